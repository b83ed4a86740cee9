import {
  type AlertJobRun,
  type AlertJobStatus,
  type AlertJobsRecord,
  deliveryJobStatus,
  evaluationJobStatus,
} from '../../domain/alerts/jobs.ts';
import { reasonOfUnknown } from '../../domain/freshness/unknown-run.ts';

/** Format the jobs of alerts for the health page; `undefined` = not known. */
export function formatAlertJobs(record: AlertJobsRecord | null, nowMs: number) {
  if (record === null) return undefined;
  const { evaluation, delivery, outbox } = record;
  return {
    evaluation: formatRun(evaluation, evaluationJobStatus(record, nowMs)),
    delivery: formatRun(delivery, deliveryJobStatus(record, nowMs)),
    undelivered: outbox.pending,
    oldestUndelivered: at(outbox.oldestPendingMs),
    dueSince: at(outbox.dueSinceMs),
    deadLetters: outbox.dead,
  };
}

function formatRun(run: AlertJobRun | null, status: AlertJobStatus) {
  return {
    status,
    statusReason: reasonOfUnknown(status) ?? undefined,
    lastRun: at(run?.ranMs),
    failure: run?.failure ?? undefined,
    failingSince: at(run?.failingSinceMs),
  };
}

function at(ms: number | null | undefined): string | undefined {
  return ms == null ? undefined : new Date(ms).toISOString();
}

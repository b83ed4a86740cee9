import { reasonOfUnknown } from '../../domain/freshness/unknown-run.ts';
import {
  type AlertJobRun,
  type AlertJobStatus,
  type AlertJobsRecord,
  deliveryJobStatus,
  evaluationJobStatus,
} from './domain/jobs.ts';

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

/** What fails of the jobs of alerts, each in a few words. */
export function alertProblems(record: AlertJobsRecord | null, nowMs: number): string[] {
  if (record === null) return [];
  const { evaluation, delivery } = record;
  const problem = (name: string, status: string, failure: string | null | undefined): string[] => {
    if (status === 'failing') return [`${name} fails: ${failure}`];
    if (status === 'unknown') return [`${name} has a latest run in the future: a clock is wrong`];
    if (status === 'stopped') return [`${name} does not run`];
    return status === 'late' ? [`${name} is late`] : [];
  };
  return [
    ...problem('the evaluation of alerts', evaluationJobStatus(record, nowMs), evaluation?.failure),
    ...problem('the delivery of webhooks', deliveryJobStatus(record, nowMs), delivery?.failure),
  ];
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

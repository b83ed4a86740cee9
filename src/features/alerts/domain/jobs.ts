import { isFromFuture } from '../../../shared/observed.ts';

/** States of a job of alerts, the worst first for those that ran. */
export const ALERT_JOB_STATUSES = ['never', 'failing', 'unknown', 'stopped', 'late', 'running'] as const;

export type AlertJobStatus = (typeof ALERT_JOB_STATUSES)[number];

/** The latest run of a job of alerts. */
export interface AlertJobRun {
  readonly ranMs: number;
  /** The reason of its failure, in one word; `null` = it did not fail. */
  readonly failure: string | null;
  /** First failure in a row; `null` = it did not fail. */
  readonly failingSinceMs: number | null;
}

/** The undelivered events of all alerts. */
export interface OutboxState {
  readonly pending: number;
  readonly dead: number;
  /** Time of the oldest undelivered event of owners with a valid key, ms; `null` = there is none. */
  readonly oldestPendingMs: number | null;
  /**
   * Time since which the most overdue delivery is due, ms; `null` = none is due. Without those under way, those of owners without a
   * valid key, and those that wait for the hourly limit of their owner.
   */
  readonly dueSinceMs: number | null;
}

/** The jobs that evaluate alerts and deliver their events. */
export interface AlertJobsRecord {
  /** `null` = no run is recorded. */
  readonly evaluation: AlertJobRun | null;
  readonly delivery: AlertJobRun | null;
  readonly outbox: OutboxState;
}

/** Runs are seconds apart; a run with many slow wallets or receivers takes minutes. */
const STOPPED_AFTER_MS = 600_000;
/** As the alarm WebhooksLate has it. */
const LATE_AFTER_MS = 900_000;

/** Judge the evaluation of alerts, the worst first. */
export function evaluationJobStatus(
  { evaluation }: Pick<AlertJobsRecord, 'evaluation'>,
  nowMs: number,
): AlertJobStatus {
  if (evaluation === null) return 'never';
  if (evaluation.failure !== null) return 'failing';
  // Written by a process with another clock, or before this clock was set back: nobody knows whether the job runs.
  if (isFromFuture(evaluation.ranMs, nowMs)) return 'unknown';
  return nowMs - evaluation.ranMs > STOPPED_AFTER_MS ? 'stopped' : 'running';
}

/** Judge the delivery of events, the worst first. A receiver that fails does not make it late. */
export function deliveryJobStatus(
  { delivery, outbox: { dueSinceMs } }: Pick<AlertJobsRecord, 'delivery' | 'outbox'>,
  nowMs: number,
): AlertJobStatus {
  const status = evaluationJobStatus({ evaluation: delivery }, nowMs);
  return status === 'running' && dueSinceMs !== null && nowMs - dueSinceMs > LATE_AFTER_MS ? 'late' : status;
}

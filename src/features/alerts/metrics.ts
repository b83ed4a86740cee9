import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { WEBHOOK_FAILURES } from './domain/records.ts';
import { ALERT_CONDITIONS } from './domain/types.ts';

/** The outbox of webhooks at one moment, for metrics. */
export interface OutboxReading {
  readonly pending: number;
  readonly dead: number;
  /** Time of the oldest undelivered event, ms; `null` = there is none. */
  readonly oldestPendingMs: number | null;
  /** Time since which the most overdue delivery is due, ms; `null` = none is due. */
  readonly dueSinceMs: number | null;
  readonly readMs: number;
}

export interface AlertMetrics {
  /** Record an evaluation of all alerts of a chain, with the stored events. */
  alertsEvaluated(evaluation: {
    readonly chainId: number;
    readonly events: readonly { readonly condition: string; readonly type: string }[];
    readonly workMs: number;
  }): void;
  /** Count an attempt to deliver an event; `reason`: why it failed, `null` = it did not. */
  deliveryAttempt(attempt: { readonly outcome: string; readonly reason: string | null }): void;
  /** Register the gauges of the outbox. `latest` = the latest reading of this process, read at scrape time. */
  watchOutbox(latest: () => OutboxReading | undefined): void;
}

/** From a millisecond to the seconds that a hundred thousand alerts on wallets may take. */
const WORK_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** A process that no longer runs the job does not report its last reading for ever. */
const MAX_READING_AGE_MS = 120_000;

/** Metrics of the alerts of partners, in the process that evaluates and delivers. */
export function alertMetrics(registers: Registry[], now: () => number): AlertMetrics {
  const events = new Counter({
    name: 'spiral_alert_events_total',
    help: 'Stored events of alerts, by condition and type.',
    labelNames: ['condition', 'type'] as const,
    registers,
  });
  const seconds = new Histogram({
    name: 'spiral_alert_evaluation_duration_seconds',
    help: 'Time of work of an evaluation of all alerts of a chain, without the readings of wallets.',
    labelNames: ['chain_id'] as const,
    buckets: WORK_BUCKETS,
    registers,
  });
  const attempts = new Counter({
    name: 'spiral_alert_delivery_attempts_total',
    help: 'Attempts to deliver an event, by outcome (delivered, retry, dead) and reason of the failure.',
    labelNames: ['outcome', 'reason'] as const,
    registers,
  });
  // Prometheus sees an increase only of a series that it has read before.
  for (const condition of ALERT_CONDITIONS)
    for (const type of ['fired', 'cleared', 'ended']) events.inc({ condition, type }, 0);
  for (const reason of WEBHOOK_FAILURES) attempts.inc({ outcome: 'dead', reason }, 0);
  const ageSec = (sinceMs: number | null) => (sinceMs === null ? 0 : Math.max(0, now() - sinceMs) / 1_000);
  return {
    alertsEvaluated({ chainId, workMs, ...evaluation }) {
      seconds.observe({ chain_id: String(chainId) }, workMs / 1_000);
      for (const { condition, type } of evaluation.events) events.inc({ condition, type });
    },
    deliveryAttempt: ({ outcome, reason }) => attempts.inc({ outcome, reason: reason ?? 'none' }),
    watchOutbox(latest) {
      const gauge = (name: string, help: string, read: (outbox: OutboxReading) => number) =>
        new Gauge({
          name,
          help,
          registers,
          collect() {
            const outbox = latest();
            if (outbox === undefined || Math.abs(now() - outbox.readMs) > MAX_READING_AGE_MS) this.remove();
            else this.set(read(outbox));
          },
        });
      gauge('spiral_alert_events_undelivered', 'Events of alerts that wait for their delivery.', (one) => one.pending);
      gauge('spiral_alert_dead_letters', 'Events of alerts of 30 days whose delivery was given up.', (one) => one.dead);
      gauge(
        'spiral_alert_oldest_undelivered_seconds',
        'Age of the oldest undelivered event of a valid key; 0 = there is none.',
        (one) => ageSec(one.oldestPendingMs),
      );
      gauge(
        'spiral_alert_delivery_delay_seconds',
        'How long the most overdue delivery has been due without an attempt. Pauses between attempts and keys above their hourly limit do not count.',
        (one) => ageSec(one.dueSinceMs),
      );
    },
  };
}

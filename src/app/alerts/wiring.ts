import type { Catalog } from '../../catalog/types.ts';
import type { AlertJobName } from '../../database/alerts/jobs.ts';
import { createKeyRepository } from '../../database/keys.ts';
import type { AlertJobsRecord } from '../../domain/alerts/jobs.ts';
import type { FreshnessBudgets } from '../../domain/facts.ts';
import { createKeyOwners } from '../../keys/owners.ts';
import type { AlertsPort } from '../../resolvers/alert/alert-services.ts';
import type { PositionsPort } from '../../resolvers/position/position-services.ts';
import { createAlertDeliveries } from '../../services/alerts/delivery.ts';
import { type AlertEvaluationDeps, createAlertEvaluation } from '../../services/alerts/evaluation.ts';
import { createAlertRegistry } from '../../services/alerts/registry.ts';
import { createWatchedWallets } from '../../services/alerts/watched-wallets.ts';
import { createLatestReading, type LatestReading } from '../../services/latest-reading.ts';
import { failureWord } from '../../shared/errors.ts';
import type { AlertMetrics, OutboxReading } from '../../telemetry/metrics-alerts.ts';
import type { Warmer } from '../../warmers/types.ts';
import { createWebhookSender } from '../../webhooks/send.ts';
import { forRequests } from '../database-waits.ts';
import type { AppDeps } from '../deps.ts';
import type { Stores } from '../stores.ts';

export interface AlertWiringDeps
  extends Pick<AppDeps, 'config' | 'clock' | 'logger' | 'random' | 'timers' | 'timeouts'>,
    Pick<AlertEvaluationDeps, 'composed' | 'facts' | 'onEvents'> {
  readonly catalog: Catalog;
  readonly stores: Pick<Stores, 'alerts' | 'db'>;
  readonly budgets: FreshnessBudgets;
  readonly positions: Pick<PositionsPort, 'read'>;
  readonly metrics: AlertMetrics | undefined;
}

export interface AlertWiring {
  readonly port: AlertsPort;
  /** The latest runs of the jobs, and the undelivered events. */
  readonly records: LatestReading<AlertJobsRecord>;
  /** The evaluation, the delivery and the reading of the outbox, each run by one process at a time. */
  readonly jobs: readonly Warmer[];
}

/** How often versions are looked for, and due deliveries, seconds. */
const EVALUATE_EVERY_SEC = 10;
const DELIVER_EVERY_SEC = 3;
const READ_OUTBOX_EVERY_SEC = 30;

/** Wire the alerts of partners: their registry, their evaluation, and the delivery of their events. */
export function createAlertWiring(deps: AlertWiringDeps): AlertWiring {
  const { config, clock, logger, catalog, stores, metrics } = deps;
  const { env } = config;
  const { alerts, events, outbox, liquidations, jobs } = stores.alerts;
  const keys = createKeyRepository(stores.db);
  const owners = createKeyOwners({ keys, clock, sampleKeys: config.sampleKeys.keys() });
  const allowed = env.ALERT_LOCAL_TARGETS ? 'any' : 'public';
  const onEvents = (): void => {
    port.forgetNewest();
    deps.onEvents();
  };
  const evaluation = createAlertEvaluation({
    ...deps,
    onEvents,
    alerts,
    activeOwners: owners.active,
    wallets: createWatchedWallets({ ...deps, catalog }),
    liquidations: liquidations.after,
    onEvaluated: metrics?.alertsEvaluated,
  });
  const deliveries = createAlertDeliveries({
    outbox,
    activeOwners: owners.active,
    send: createWebhookSender({ allowed, timers: deps.timeouts }),
    pepper: env.KEY_PEPPER,
    begunPerHour: env.ALERT_DELIVERIES_PER_HOUR,
    clock,
    timers: deps.timeouts,
    random: deps.random,
    logger,
    onAttempt: metrics?.deliveryAttempt,
  });
  const port = createAlertRegistry({
    alerts,
    events,
    ownerOf: owners.ownerOf,
    allowedTargets: allowed,
    maxPerKey: env.ALERTS_PER_KEY,
    pepper: env.KEY_PEPPER,
    clock,
    onEvents,
  });
  let reading: OutboxReading | undefined;
  metrics?.watchOutbox(() => reading);
  const readState = async () =>
    outbox.state({ owners: await owners.active(), begunPerHour: env.ALERT_DELIVERIES_PER_HOUR });
  const readOutbox = async () => {
    reading = { ...(await readState()), readMs: clock.now() };
    return { items: reading.pending, failures: 0 };
  };
  const readRecords = async (): Promise<AlertJobsRecord> => {
    const [runs, state] = await Promise.all([jobs.read(), readState()]);
    return { evaluation: runs.get('evaluation') ?? null, delivery: runs.get('delivery') ?? null, outbox: state };
  };
  /** Record each run of a job, so that every process can show it. */
  const recorded =
    (job: AlertJobName, run: JobRun): JobRun =>
    async (signal) => {
      const note = (failure: string | null) => jobs.note(job, { atMs: clock.now(), failure });
      const done = await run(signal).catch(async (error: unknown) => {
        // The record of the run must not hide why it failed.
        if (!signal.aborted) await note(failureWord(error)).catch(() => {});
        throw error;
      });
      await note(done.failure === undefined ? null : failureWord(done.failure));
      return done;
    };
  // A receiver that fails is no failure of the job.
  const deliver: JobRun = async (signal) => ({ ...(await deliveries.run(signal)), failures: 0 });
  return {
    port,
    records: createLatestReading(forRequests(deps.timers, readRecords), clock),
    jobs: [
      jobOf('alerts', EVALUATE_EVERY_SEC, recorded('evaluation', evaluation.run)),
      jobOf('alert-deliveries', DELIVER_EVERY_SEC, recorded('delivery', deliver)),
      jobOf('alert-outbox', READ_OUTBOX_EVERY_SEC, readOutbox),
    ],
  };
}

type JobRun = (signal: AbortSignal) => Promise<{
  readonly items: number;
  readonly failures: number;
  /** Error of a part that failed. */
  readonly failure?: unknown;
}>;

function jobOf(name: string, everySec: number, run: JobRun): Warmer {
  return {
    name,
    groups: [],
    everySec,
    phase: 2,
    run: async (signal) => {
      const { items, failures } = await run(signal);
      return { items, failures, retryable: failures };
    },
  };
}

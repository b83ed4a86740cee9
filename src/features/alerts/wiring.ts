import { forRequests } from '../../app/database-waits.ts';
import type { FeatureCore, FeatureParts } from '../../app/feature.ts';
import { createKeyRepository } from '../../database/keys.ts';
import { createKeyOwners } from '../../keys/owners.ts';
import { createLatestReading } from '../../services/latest-reading.ts';
import { failureWord } from '../../shared/errors.ts';
import type { Warmer } from '../../warmers/types.ts';
import { createAlertRepository } from './database/alerts.ts';
import { createAlertEventRepository } from './database/events.ts';
import { type AlertJobName, createAlertJobRepository } from './database/jobs.ts';
import { createLiquidationRepository } from './database/liquidations.ts';
import { createAlertOutbox } from './database/outbox.ts';
import type { AlertJobsRecord } from './domain/jobs.ts';
import { alertProblems, formatAlertJobs } from './job-health.ts';
import { alertMetrics, type OutboxReading } from './metrics.ts';
import { alertServices } from './resolvers/alert-services.ts';
import { createAlertDeliveries } from './services/delivery.ts';
import { createAlertEvaluation } from './services/evaluation.ts';
import { createAlertRegistry } from './services/registry.ts';
import { createWatchedWallets } from './services/watched-wallets.ts';
import { createWebhookSender } from './webhooks/send.ts';

/** How often versions are looked for, and due deliveries, seconds. */
const EVALUATE_EVERY_SEC = 10;
const DELIVER_EVERY_SEC = 3;
const READ_OUTBOX_EVERY_SEC = 30;

/** Wire the alerts of partners: their registry, their evaluation, and the delivery of their events. */
export function alertParts(core: FeatureCore): FeatureParts {
  const { config, clock, logger, db } = core;
  const { env } = config;
  const alerts = createAlertRepository(db, clock);
  const events = createAlertEventRepository(db, clock);
  const outbox = createAlertOutbox(db, clock);
  const jobs = createAlertJobRepository(db);
  const metrics = core.metrics && alertMetrics(core.metrics.registers, () => clock.now());
  const keys = createKeyRepository(db);
  const owners = createKeyOwners({ keys, clock, sampleKeys: config.sampleKeys.keys() });
  const allowed = env.ALERT_LOCAL_TARGETS ? 'any' : 'public';
  const onEvents = (): void => {
    port.forgetNewest();
    core.wake('alertEvents');
  };
  const evaluation = createAlertEvaluation({
    ...core,
    onEvents,
    alerts,
    activeOwners: owners.active,
    wallets: createWatchedWallets(core),
    liquidations: createLiquidationRepository(db).after,
    onEvaluated: metrics?.alertsEvaluated,
  });
  const deliveries = createAlertDeliveries({
    outbox,
    activeOwners: owners.active,
    send: createWebhookSender({ allowed, timers: core.timeouts }),
    pepper: env.KEY_PEPPER,
    begunPerHour: env.ALERT_DELIVERIES_PER_HOUR,
    clock,
    timers: core.timeouts,
    random: core.random,
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
  const records = createLatestReading(forRequests(core.timers, readRecords), clock);
  return {
    services: new Map([alertServices.with(port)]),
    jobs: [
      jobOf('alerts', EVALUATE_EVERY_SEC, recorded('evaluation', evaluation.run)),
      jobOf('alert-deliveries', DELIVER_EVERY_SEC, recorded('delivery', deliver)),
      jobOf('alert-outbox', READ_OUTBOX_EVERY_SEC, readOutbox),
    ],
    prune: async () => (await alerts.prune()) + (await events.prune()),
    async health(nowMs) {
      const record = await records.latest();
      return { fields: { alerts: formatAlertJobs(record, nowMs) }, problems: alertProblems(record, nowMs) };
    },
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

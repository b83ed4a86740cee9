import type { Catalog } from '../../catalog/types.ts';
import type { FreshnessBudgets } from '../../domain/facts.ts';
import { createKeyOwners } from '../../keys/owners.ts';
import type { AlertsPort } from '../../resolvers/alert/alert-services.ts';
import type { PositionsPort } from '../../resolvers/position/position-services.ts';
import { createAlertDeliveries } from '../../services/alerts/delivery.ts';
import { type AlertEvaluationDeps, createAlertEvaluation } from '../../services/alerts/evaluation.ts';
import { createAlertRegistry } from '../../services/alerts/registry.ts';
import { createWatchedWallets } from '../../services/alerts/watched-wallets.ts';
import type { AlertMetrics, OutboxReading } from '../../telemetry/metrics-alerts.ts';
import type { Warmer } from '../../warmers/types.ts';
import { createWebhookSender } from '../../webhooks/send.ts';
import type { AppDeps } from '../deps.ts';
import type { Stores } from '../stores.ts';

export interface AlertWiringDeps
  extends Pick<AppDeps, 'config' | 'clock' | 'logger' | 'random' | 'timeouts'>,
    Pick<AlertEvaluationDeps, 'composed' | 'facts' | 'onEvents'> {
  readonly catalog: Catalog;
  readonly stores: Pick<Stores, 'alerts' | 'keys'>;
  readonly budgets: FreshnessBudgets;
  readonly positions: Pick<PositionsPort, 'read'>;
  readonly metrics: AlertMetrics | undefined;
}

export interface AlertWiring {
  readonly port: AlertsPort;
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
  const { alerts, events, outbox, liquidations } = stores.alerts;
  const owners = createKeyOwners({ list: stores.keys.list, sampleKeys: config.sampleKeys.keys() });
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
  const readOutbox = async () => {
    const limits = { owners: await owners.active(), begunPerHour: env.ALERT_DELIVERIES_PER_HOUR };
    reading = { ...(await outbox.state(limits)), readMs: clock.now() };
    return { items: reading.pending, failures: 0 };
  };
  return {
    port,
    jobs: [
      jobOf('alerts', EVALUATE_EVERY_SEC, evaluation.run),
      // A receiver that fails is no failure of the job.
      jobOf('alert-deliveries', DELIVER_EVERY_SEC, async (signal) => ({
        ...(await deliveries.run(signal)),
        failures: 0,
      })),
      jobOf('alert-outbox', READ_OUTBOX_EVERY_SEC, readOutbox),
    ],
  };
}

function jobOf(
  name: string,
  everySec: number,
  run: (signal: AbortSignal) => Promise<{ readonly items: number; readonly failures: number }>,
): Warmer {
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

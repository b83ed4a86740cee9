import { rawCorsHeaders } from '../http/headers.ts';
import { type Listening, listen } from '../http/listen.ts';
import type { WarmerRunner } from '../warmers/runner/runner.ts';
import { bounded } from './bounded-step.ts';
import { createCore } from './core.ts';
import type { AppDeps } from './deps.ts';
import { openOrWithhold } from './open-database.ts';
import { createHourlyReports } from './portfolio-samples.ts';
import { createSurface } from './surface.ts';

export type { AppDeps } from './deps.ts';

export interface App {
  /** Migrate, restore the last snapshot, listen, and start warming. Resolves once requests are answered. */
  start(): Promise<void>;
  /** Stop accepting requests, finish running ones, release leases and connections. */
  stop(): Promise<void>;
  /**
   * URL of the service.
   * @throws Error before `start`
   */
  readonly url: string;
  /** URL of `/metrics`; `null` without METRICS_PORT. */
  readonly metricsUrl: string | null;
  readonly warmers: WarmerRunner;
  /** Resolves after the first round of warmers; at once in a process without warmers. */
  readonly warmed: Promise<void>;
}

/** How long running requests may take after a stop was requested. */
const DRAIN_MS = 8_000;
/** How long connections may then take to close. */
const CLOSE_MS = 1_000;

/** Compose the service from its parts, with its lifecycle: start, serve, stop. */
export function createApp(deps: AppDeps): App {
  const { logger } = deps;
  const { env } = deps.config;
  const core = createCore(deps);
  const { catalog, stores, telemetry, snapshot, warming, changes, services, nodes } = core;
  const { metrics } = telemetry;
  const surface = createSurface(deps, core, () => stopped !== undefined);
  const { handler, routeName } = surface;
  metrics?.watchEdge({ connections: () => listening?.connections ?? 0, unreadBytes: () => surface.unreadBytes });
  const hourly = createHourlyReports({ ops: services.ops, chainIds: catalog.chainIds, timers: deps.timers });
  let listening: Listening | undefined;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    const delayMs = listening === undefined ? 0 : env.STOP_DELAY_SEC * 1_000;
    const drainMs = DRAIN_MS - delayMs;
    hourly.stop();
    // Leases are released while requests still run, so that another warmer takes over at once.
    const cooled = bounded('warmers', warming.stop(), DRAIN_MS, deps);
    await new Promise<void>((resolve) => (delayMs === 0 ? resolve() : deps.timers.setTimeout(resolve, delayMs)));
    changes.close();
    core.freshReads.close();
    const idleMs = Math.min(env.STOP_DRAIN_SEC * 1_000, drainMs);
    await bounded('requests', listening?.close(drainMs, idleMs) ?? Promise.resolve(), drainMs + CLOSE_MS, deps);
    await cooled;
    const stored = Promise.all([stores.keys.close(), stores.usage.close()]);
    const closing = [stored.then(stores.close), surface.close(), core.closeBudgets(), telemetry.stop()];
    await bounded('connections', Promise.all(closing), CLOSE_MS, deps);
  };
  return {
    get url() {
      if (!listening) throw new Error('the service is not started');
      return listening.url;
    },
    get metricsUrl() {
      return telemetry.url;
    },
    warmers: warming.runner,
    get warmed() {
      return warming.warmed;
    },
    async start() {
      const { timers, tracing } = deps;
      try {
        const waitMs = env.START_WAIT_SEC * 1_000;
        const opening = { logger, timers, waitMs, migrate: env.MIGRATE_ON_START };
        await openOrWithhold(env.DATABASE_URL ?? '', opening, stores.withhold);
        await snapshot.restore();
        logger.info({ ...snapshot.place() }, 'snapshot restored');
        await Promise.all(catalog.chainIds.map((chainId) => services.caughtUp(chainId)));
        await telemetry.start();
        const listener = tracing?.node(handler.node, routeName) ?? handler.node;
        listening = await listen(listener, {
          host: env.HOST,
          port: env.PORT,
          connectionsPerAddress: env.MAX_CONNECTIONS_PER_ADDRESS,
          maxConnections: env.MAX_CONNECTIONS,
          keyOf: surface.keyOf,
          onSlowReader: metrics?.slowReader,
          onRefusedConnection: metrics?.connectionRefused,
          headersFor: (origin) => rawCorsHeaders({ origins: deps.config.corsOrigins }, origin),
        });
        for (const all of nodes.values()) void all.probe();
        warming.start(env.ROLE !== 'api');
        if (env.ROLE !== 'api') hourly.start();
        stores.usage.start();
      } catch (error) {
        await this.stop();
        throw error;
      }
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

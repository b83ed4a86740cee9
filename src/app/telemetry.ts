import type { Config } from '../config/config.ts';
import type { Listening } from '../http/listen.ts';
import type { PartnerServices } from '../resolvers/transaction/partner-services.ts';
import type { Clock } from '../shared/clock.ts';
import { AppError } from '../shared/errors.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { listenForMetrics } from '../telemetry/metrics-server.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { providersOf } from './provider-settings.ts';

export interface TelemetryDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetch: typeof fetch;
  readonly tracing?: Tracing | undefined;
}

/** Instrumentation that the composition root passes to the parts. */
export interface Telemetry {
  /** `undefined` without METRICS_PORT. */
  readonly metrics: Metrics | undefined;
  /** Fetch for providers. */
  readonly fetch: typeof fetch;
  /** Fetch for a node of a chain, by its position in RPC_URL_*. */
  rpcFetch(chainId: ChainId, node: number): typeof fetch;
  /** Count the outcomes of previews and builds. */
  countBuilds(builders: PartnerServices): PartnerServices;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** URL of the metrics; `null` without METRICS_PORT. */
  readonly url: string | null;
}

/** How long a running scrape may delay the stop. */
const CLOSE_MS = 500;

/** Create the telemetry of one process: metrics when METRICS_PORT is set, spans when tracing is given. */
export function createTelemetry(deps: TelemetryDeps): Telemetry {
  const { config, clock, logger, tracing } = deps;
  const { METRICS_PORT: port, HOST: host } = config.env;
  const metrics = port === undefined ? undefined : createMetrics();
  const providerAt = Object.entries(providersOf(config)).map(([name, { baseUrl }]) => ({ name, baseUrl }));
  const peerOf = (url: string) => ({
    'peer.service': providerAt.find(({ baseUrl }) => url.startsWith(baseUrl))?.name ?? 'other',
  });
  let listening: Listening | undefined;

  return {
    metrics,
    fetch: tracing === undefined ? deps.fetch : tracing.fetch(deps.fetch, peerOf),
    rpcFetch(chainId, node) {
      const traced =
        tracing === undefined ? deps.fetch : tracing.fetch(deps.fetch, () => ({ 'peer.service': `chain ${chainId}` }));
      return metrics === undefined ? traced : countRpc(traced, { chainId, node }, clock, metrics);
    },
    countBuilds({ leverage, equity }) {
      if (metrics === undefined) return { leverage, equity };
      const counted = <A extends readonly unknown[], R>(verb: string, build: (...args: A) => Promise<R>) =>
        countOutcome(metrics, verb, build);
      return {
        leverage: {
          ...leverage,
          preview: counted('leverage preview', leverage.preview),
          open: counted('leverage open', leverage.open),
          manage: counted('leverage manage', leverage.manage),
          deleverage: counted('leverage deleverage options', async (request) => {
            const found = await leverage.deleverage(request);
            for (const { action, outcome } of found.options) {
              metrics.build(`deleverage ${action}`, outcome instanceof AppError ? outcome.code : 'ok');
            }
            return found;
          }),
        },
        equity: {
          ...equity,
          preview: counted('equity preview', equity.preview),
          deposit: counted('equity deposit', equity.deposit),
          exit: counted('equity exit', equity.exit),
        },
      };
    },
    async start() {
      if (metrics === undefined || port === undefined) return;
      listening = await listenForMetrics({ metrics, host, port, logger });
      logger.info({ url: `${listening.url}/metrics` }, 'metrics listening');
    },
    async stop() {
      await listening?.close(CLOSE_MS);
      metrics?.close();
    },
    get url() {
      return listening?.url ?? null;
    },
  };
}

function countRpc(
  inner: typeof fetch,
  target: { readonly chainId: ChainId; readonly node: number },
  clock: Clock,
  metrics: Metrics,
): typeof fetch {
  return async (input, init) => {
    const startedMs = clock.now();
    const record = (outcome: string) => metrics.rpcCall({ ...target, outcome, ms: clock.now() - startedMs });
    try {
      const response = await inner(input, init);
      record(response.ok ? 'ok' : response.status === 429 ? 'rate_limited' : 'rejected');
      return response;
    } catch (error) {
      record(init?.signal?.aborted ? 'timeout' : 'unreachable');
      throw error;
    }
  };
}

function countOutcome<A extends readonly unknown[], R>(
  metrics: Metrics,
  verb: string,
  build: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      const result = await build(...args);
      metrics.build(verb, 'ok');
      return result;
    } catch (error) {
      metrics.build(verb, error instanceof AppError ? error.code : 'internal');
      throw error;
    }
  };
}

import { setTimeout as wait } from 'node:timers/promises';
import type { Address } from 'viem';
import type { Catalog } from '../../src/catalog/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { vaultSeeds } from '../seed/vaults.ts';
import type { CampaignChanges } from './campaigns.ts';
import type { Sleep } from './deliver.ts';
import { createFaultStore, type FaultStore } from './faults.ts';
import { createLimiter, noLimiter } from './limits.ts';
import { providers } from './providers/index.ts';
import { createRequestLog, type RecordedRequest } from './request-log.ts';
import { startUpstreamServer } from './server.ts';
import { PROVIDERS, type Provider } from './types.ts';
import { createWorld } from './world.ts';

export { type ActiveFault, FAULT_KINDS, type Fault, type FaultOptions, faultSchema } from './faults.ts';
export type { RecordedRequest } from './request-log.ts';
export { PROVIDERS, type Provider } from './types.ts';

export interface UpstreamOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** RPC of each local chain, by chain id. A chain without one has no quotes and no lending state, and seeded prices. */
  readonly rpcUrls: Readonly<Record<number, string>>;
  /** Vaults that the public allocator may shift; absent: the seeded ones. */
  readonly vaults?: readonly { readonly chainId: number; readonly address: Address }[];
  /** Absent: a free one. */
  readonly port?: number;
  readonly logger?: Logger;
  /** Whether requests are counted and refused as by the real providers. Default false. */
  readonly isLimited?: boolean;
  /** Delays of faults; absent: real time. */
  readonly sleep?: Sleep;
}

export interface Upstreams {
  /** `http://127.0.0.1:<port>`, below which every provider has its prefix. */
  readonly origin: string;
  /** Base URL of each provider, to be used in place of its real one. */
  readonly urls: Readonly<Record<Provider, string>>;
  readonly faults: Omit<FaultStore, 'take'>;
  readonly campaigns: CampaignChanges;
  /** Received requests, oldest first (the latest few thousand). */
  requests(provider?: Provider): readonly RecordedRequest[];
  /** Number of requests of each provider. */
  requestCounts(): Readonly<Record<Provider, number>>;
  clearRequests(): void;
  stop(): Promise<void>;
}

const realSleep: Sleep = (ms, signal) => wait(ms, undefined, { signal });

/**
 * Start the simulated providers: one HTTP server on 127.0.0.1, in the real providers' paths, parameters and shapes.
 * @throws Error when the port is taken.
 */
export async function startUpstreams(options: UpstreamOptions): Promise<Upstreams> {
  const { catalog, clock, rpcUrls, port, vaults = vaultSeeds, logger = silentLogger, sleep = realSleep } = options;
  const world = createWorld({ catalog, clock, rpcUrls, vaults });
  const faults = createFaultStore();
  const log = createRequestLog(clock);
  const server = await startUpstreamServer({
    world,
    faults,
    log,
    limiter: options.isLimited ? createLimiter(clock) : noLimiter,
    logger,
    sleep,
    port,
  });
  const urls = PROVIDERS.map((name) => [name, `${server.origin}${providers[name].base}`]);
  return {
    origin: server.origin,
    urls: Object.fromEntries(urls) as Record<Provider, string>,
    campaigns: world.campaigns,
    faults: { set: faults.set, clear: faults.clear, list: faults.list },
    requests: log.list,
    requestCounts: log.counts,
    clearRequests: log.clear,
    stop: server.stop,
  };
}

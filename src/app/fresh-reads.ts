import { createHeadReader } from '../chain/transactions.ts';
import type { RedisConnections } from '../redis/connections.ts';
import type { FreshReadServices } from '../resolvers/common/read-services.ts';
import { createBlockWaits } from '../services/fresh-reads/block-waits.ts';
import { createJobs, createRefreshes } from '../services/fresh-reads/refreshes.ts';
import { READER_WAIT_MS } from '../shared/calls/wait-timeout.ts';
import { systemTimers } from '../shared/timers.ts';
import type { SnapshotStore } from '../snapshot/types.ts';
import type { AppDeps } from './deps.ts';
import type { NodesOf } from './nodes.ts';
import type { Telemetry } from './telemetry.ts';
import type { Warming } from './warming.ts';

export interface FreshReadsDeps extends Pick<AppDeps, 'config' | 'clock' | 'timeouts'> {
  readonly readerNodes: NodesOf;
  readonly snapshot: SnapshotStore;
  readonly runner: Warming['runner'];
  readonly redisConnections: RedisConnections | undefined;
  readonly metrics: Telemetry['metrics'];
}

export interface FreshReads {
  readonly services: FreshReadServices;
  close(): void;
}

/** Wire the waits for blocks, and the measurements that requests cause here or in the process that holds the lease. */
export function createFreshReads(deps: FreshReadsDeps): FreshReads {
  const { config, clock, readerNodes, snapshot, runner, redisConnections, metrics } = deps;
  const { env } = config;
  const timers = deps.timeouts ?? systemTimers;
  const jobs = createJobs({ pricesMinSec: env.REFRESH_PRICES_MIN_SEC });
  const minIntervalsSec = new Map(
    [...readerNodes.keys()].flatMap((chainId) =>
      Object.values(jobs).map(({ warmerOf, minIntervalSec }) => [warmerOf(chainId), minIntervalSec] as const),
    ),
  );
  const requests =
    redisConnections && createRefreshRequests(redisConnections, minIntervalsSec, env.ROLE === 'api' ? null : runner);
  const blockWaits = createBlockWaits({
    readers: new Map([...readerNodes].map(([chainId, nodes]) => [chainId, createHeadReader(nodes)])),
    timers,
    elapsedMs: () => performance.now(),
    maxWaitMs: env.READ_WAIT_SEC * 1_000,
    perClient: env.MAX_WAITS_PER_CLIENT,
    max: env.MAX_WAITS,
    onEnd: metrics?.blockWait,
  });
  metrics?.watchWaits(() => blockWaits.count);
  const refreshes = createRefreshes({
    jobs,
    snapshot,
    runHere: env.ROLE === 'api' ? null : runner.runForRequest,
    askOthers: requests?.ask ?? null,
    clock,
    timers,
    maxWaitMs: READER_WAIT_MS,
    onEnd: metrics?.requestedRefresh,
  });
  return {
    services: { blockWaits, refreshes },
    close() {
      blockWaits.stop();
      requests?.close();
    },
  };
}

/**
 * Pass requests for a refresh to the process that holds the lease of a warmer. A request is the name of the warmer, published
 * on a channel. The warmer runs at most once per minimum interval, however many requests arrive.
 */
function createRefreshRequests(
  connections: RedisConnections,
  minIntervalsSec: ReadonlyMap<string, number>,
  runner: Pick<Warming['runner'], 'runForRequest'> | null,
) {
  const channel = `${connections.prefix}:refresh-requests`;
  const sender = connections.connect('refresh-requests');
  const listener = runner && connections.connect('refresh-requests-notices', { channel });
  listener?.on('message', (_channel: string, name: string) => {
    const minIntervalSec = minIntervalsSec.get(name);
    if (minIntervalSec !== undefined) void runner?.runForRequest(name, minIntervalSec * 1_000).catch(() => {});
  });
  return {
    ask: async (name: string) => {
      const received = await sender.publish(channel, name);
      // A node of a cluster counts its own subscribers only.
      if (received === 0 && connections.mode !== 'cluster') throw new Error('no process listens for requests');
    },
    close() {
      sender.disconnect();
      listener?.disconnect();
    },
  };
}

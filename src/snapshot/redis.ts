import { FACT_GROUPS } from '../domain/facts.ts';
import { onSubscribed, untilAlive, untilReadable } from '../redis/connection.ts';
import type { RedisConnections } from '../redis/connections.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { CODEC_VERSION } from './codec.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { createLocalFacts } from './local.ts';
import { type KeepItem, mergeGroups } from './merge.ts';
import { createClockSkew } from './redis-clock.ts';
import { createRemoteFacts } from './redis-remote.ts';
import { createSync, pull, push, restoreToRedis } from './redis-sync.ts';
import { admit } from './restore.ts';
import type { SnapshotStore, SnapshotWriter } from './types.ts';

export interface RedisSnapshotDeps {
  readonly connections: RedisConnections;
  readonly chainIds: readonly ChainId[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keep: (chainId: ChainId) => KeepItem;
  /** How long a start waits for Redis before it goes on without stored facts. Facts of a later Redis are read then. */
  readonly restoreWaitMs?: number | undefined;
  /** Interval between checks whether Redis lost data or was reset to an older state, ms. */
  readonly healEveryMs?: number | undefined;
}

const RESTORE_WAIT_MS = 3_000;
/** Missing data is restored by the next writer, and after this time by any process that has it. */
const HEAL_EVERY_MS = 5_000;

/**
 * Create a snapshot store shared through Redis. Reads are local and synchronous. Every process follows the others by change
 * notices, and re-reads after each reconnect. Without Redis the local copy is served and extended; unshared changes are
 * published when Redis is back, even to an empty one. The newer measurement of each item counts, so that a Redis that was
 * flushed or reset to an older state is filled again. Versions never go backwards in one process.
 */
export function createRedisSnapshot(deps: RedisSnapshotDeps): SnapshotStore {
  const { connections, chainIds, clock, logger, keep } = deps;
  const { restoreWaitMs = RESTORE_WAIT_MS, healEveryMs = HEAL_EVERY_MS } = deps;
  const place = `${connections.prefix}:snapshot:${CODEC_VERSION}`;
  const channel = `${place}:changes`;
  const local = createLocalFacts({ logger });
  const redis = connections.connect('snapshot');
  const notices = connections.connect('snapshot-notices', { channel });
  const remote = createRemoteFacts({
    redis,
    channel,
    keyOf: (chainId) => `${place}:${chainId}`,
  });
  const sync = createSync({ remote, local, clock, logger, keep });
  const skew = createClockSkew({ redis, clock, logger });
  let closed = false;

  /** A pull between a merge and its write would lose one of the two. */
  const mutex = createKeyedMutex();

  const once = (run: (chainId: ChainId) => Promise<unknown>) => coalesced(mutex, () => closed, run);
  /** Read newer data, then write the data that Redis lacks: after a reconnect, and from time to time. */
  const reconcile = once(async (chainId) => {
    await pull(sync, chainId);
    // With a wrong clock, older measurements could appear newer and displace those of other processes.
    if (!skew.isOff()) await restoreToRedis(sync, chainId);
  });
  const schedulePull = once((chainId) => pull(sync, chainId));
  const heal = (): void => {
    if (redis.status !== 'ready') return;
    const reconcileAll = (): void => chainIds.forEach(reconcile);
    skew.measure().then(reconcileAll, reconcileAll);
  };
  redis.on('ready', heal);
  const healing = setInterval(heal, healEveryMs);
  healing.unref();
  onSubscribed(notices, () => chainIds.forEach(schedulePull));
  notices.on('message', (_channel: string, message: string) => {
    const chainId = chainIds.find((candidate) => String(candidate) === message);
    if (chainId !== undefined) schedulePull(chainId);
  });

  const publishAll: SnapshotWriter['publishAll'] = (chainId, publications) =>
    mutex(chainId, async () => {
      const merged = mergeGroups(local.facts(chainId), publications, clock.now());
      await push(sync, chainId, merged);
      // A write detects lost data. Without Redis no data has to be restored.
      if (sync.unshared.size === 0 && sync.missingInRedis.size > 0 && !skew.isOff())
        await restoreToRedis(sync, chainId);
      return local.facts(chainId);
    });

  return {
    facts: local.facts,
    subscribe: local.subscribe,
    publish: (chainId, group, publication) => publishAll(chainId, { [group]: publication }),
    publishAll,
    place: () => ({
      kind: 'redis',
      ok:
        redis.isAlive() &&
        redis.fault() === null &&
        notices.isAlive() &&
        sync.unshared.size === 0 &&
        sync.missingInRedis.size === 0 &&
        sync.unreadable.size === 0,
      clockSkewMs: skew.ms(),
      unreadable: sync.unreadable.size === 0 ? undefined : [...sync.unreadable.values()],
    }),
    restore: async () => {
      const [ready] = await Promise.all([untilReadable(redis, restoreWaitMs), untilAlive(notices, restoreWaitMs)]);
      if (!ready) return;
      await Promise.all(chainIds.map((chainId) => mutex(chainId, () => pull(sync, chainId)).catch(() => {})));
      for (const chainId of chainIds) {
        const facts = local.facts(chainId);
        const admitted = admit(facts, keep(chainId), clock.now());
        if (admitted !== facts) local.set({ ...admitted, version: facts.version + 1 }, FACT_GROUPS);
      }
    },
    close: async () => {
      closed = true;
      clearInterval(healing);
      await mutex.settled();
      redis.disconnect();
      notices.disconnect();
    },
  };
}

/** Schedule a run for a chain, unless one is already waiting for its turn. A failed run is tried again later. */
function coalesced(
  mutex: ReturnType<typeof createKeyedMutex>,
  isClosed: () => boolean,
  run: (chainId: ChainId) => Promise<unknown>,
): (chainId: ChainId) => void {
  const waiting = new Set<ChainId>();
  return (chainId) => {
    if (waiting.has(chainId) || isClosed()) return;
    waiting.add(chainId);
    mutex(chainId, () => {
      waiting.delete(chainId);
      return run(chainId);
    }).catch(() => {});
  };
}

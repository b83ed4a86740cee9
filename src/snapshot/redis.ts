import { FACT_GROUPS } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { CODEC_VERSION } from './codec.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { createLocalFacts } from './local.ts';
import { type KeepItem, mergeGroups } from './merge.ts';
import { createClockSkew } from './redis-clock.ts';
import { connectRedis, untilAlive } from './redis-connection.ts';
import { createRemoteFacts } from './redis-remote.ts';
import { createSync, pull, push, restoreToRedis } from './redis-sync.ts';
import { admit } from './restore.ts';
import type { SnapshotStore, SnapshotWriter } from './types.ts';

export interface RedisSnapshotDeps {
  readonly url: string;
  readonly chainIds: readonly ChainId[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keep: (chainId: ChainId) => KeepItem;
  readonly prefix?: string | undefined;
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
  const { url, chainIds, clock, logger, keep, prefix = 'spiral' } = deps;
  const { restoreWaitMs = RESTORE_WAIT_MS, healEveryMs = HEAL_EVERY_MS } = deps;
  const channel = `${prefix}:snapshot:${CODEC_VERSION}:changes`;
  const local = createLocalFacts({ logger });
  const redis = connectRedis({ url, logger, name: 'snapshot' });
  const notices = connectRedis({ url, logger, name: 'snapshot-notices', listens: true });
  const remote = createRemoteFacts({
    redis,
    channel,
    keyOf: (chainId) => `${prefix}:snapshot:${CODEC_VERSION}:${chainId}`,
  });
  const sync = createSync({ remote, local, clock, logger, keep });
  const pulling = new Set<ChainId>();
  const reconciling = new Set<ChainId>();
  const skew = createClockSkew({ redis, clock, logger });
  let closed = false;

  /** A pull between a merge and its write would lose one of the two. */
  const mutex = createKeyedMutex();

  /** Read newer data, then write the data that Redis lacks: after a reconnect, and from time to time. */
  const reconcile = (chainId: ChainId): Promise<void> => {
    if (reconciling.has(chainId) || closed) return Promise.resolve();
    reconciling.add(chainId);
    return mutex(chainId, async () => {
      reconciling.delete(chainId);
      await pull(sync, chainId);
      await restoreToRedis(sync, chainId);
    }).catch(() => {});
  };

  const schedulePull = (chainId: ChainId): void => {
    if (pulling.has(chainId) || closed) return;
    pulling.add(chainId);
    mutex(chainId, () => {
      pulling.delete(chainId);
      return pull(sync, chainId);
    }).catch(() => {});
  };

  const heal = (): void => {
    if (redis.status !== 'ready') return;
    skew.measure().catch(() => {});
    for (const chainId of chainIds) void reconcile(chainId);
  };
  redis.on('ready', heal);
  const healing = setInterval(heal, healEveryMs);
  healing.unref();
  notices.on('ready', () => {
    notices
      .subscribe(channel)
      .then(() => chainIds.forEach(schedulePull))
      .catch(() => {
        if (!closed) notices.disconnect(true);
      });
  });
  notices.on('message', (_channel: string, message: string) => {
    const chainId = chainIds.find((candidate) => String(candidate) === message);
    if (chainId !== undefined) schedulePull(chainId);
  });

  const publishAll: SnapshotWriter['publishAll'] = (chainId, publications) =>
    mutex(chainId, async () => {
      const merged = mergeGroups(local.facts(chainId), publications, clock.now());
      await push(sync, chainId, merged);
      // A write detects lost data. Without Redis there is nothing to restore.
      if (sync.unshared.size === 0 && sync.missingInRedis.size > 0) await restoreToRedis(sync, chainId);
      return local.facts(chainId);
    });

  return {
    facts: local.facts,
    subscribe: local.subscribe,
    publish: (chainId, group, publication) => publishAll(chainId, { [group]: publication }),
    publishAll,
    place: () => ({
      kind: 'redis',
      ok: redis.isAlive() && notices.isAlive() && sync.unshared.size === 0 && sync.missingInRedis.size === 0,
      clockSkewMs: skew.ms(),
    }),
    restore: async () => {
      const [ready] = await Promise.all([untilAlive(redis, restoreWaitMs), untilAlive(notices, restoreWaitMs)]);
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

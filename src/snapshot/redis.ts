import { randomUUID } from 'node:crypto';
import { type ChainFacts, FACT_GROUPS, type FactGroup, type GroupState } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { MAX_AHEAD_MS } from '../shared/observed.ts';
import { inPages } from '../shared/pages.ts';
import { CODEC_VERSION, decodeGroup, encodeGroup, ITEMS_PER_PAGE } from './codec.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { createLocalFacts } from './local.ts';
import { followGroup, groupsOf, type KeepItem, mergeGroups, retain, uniteGroups, withGroups } from './merge.ts';
import { connectRedis, untilAlive } from './redis-connection.ts';
import { createRemoteFacts, type RemoteGroup, type RemoteGroupWrite } from './redis-remote.ts';
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
/** A measurement of Redis' clock that took longer is too imprecise. */
const MAX_CLOCK_READ_MS = 1_000;
/** Maximum collisions of a write. Leases leave one writer per group, so more collisions mean that the leases fail. */
const MAX_COLLISIONS = 8;

type Groups = Partial<Record<FactGroup, GroupState<unknown>>>;

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
  /**
   * Revision of each group as last read or written. Revisions are random tokens, so that a Redis that starts anew is detected.
   */
  const revisions = new Map<string, string>();
  /** Groups whose local state Redis has not accepted yet. */
  const unshared = new Set<string>();
  /** Groups that Redis lost, or has less of than this process. */
  const missingInRedis = new Set<string>();
  const pulling = new Set<ChainId>();
  const reconciling = new Set<ChainId>();
  let clockSkewMs: number | null = null;
  let closed = false;

  /** A pull between a merge and its write would lose one of the two. */
  const mutex = createKeyedMutex();
  const id = (chainId: ChainId, group: FactGroup): string => `${chainId}:${group}`;
  const state = (chainId: ChainId, group: FactGroup): GroupState<unknown> => local.facts(chainId).groups[group];

  const apply = (chainId: ChainId, groups: Groups, version: number, publishedMs: number): ChainFacts => {
    const known = local.facts(chainId);
    const changed = groupsOf(groups);
    if (changed.length === 0) return known;
    const merged = withGroups(
      known,
      groups,
      Math.max(version, known.version + 1),
      Math.min(Math.max(publishedMs, known.publishedMs), clock.now()),
    );
    const next = retain(merged, keep(chainId), changed);
    local.set(next, changed);
    return next;
  };

  const read = async (
    chainId: ChainId,
    group: FactGroup,
    { payload }: RemoteGroup,
  ): Promise<GroupState<unknown> | null> => {
    if (payload === null) return null;
    try {
      return await decodeGroup(group, payload);
    } catch (error) {
      logger.warn({ chainId, group, error }, 'shared facts cannot be read');
      return null;
    }
  };

  /** Read the writes of others since the last pull, and apply them together with `own` (just written) as one version. */
  const pull = async (chainId: ChainId, own: Groups = {}): Promise<ChainFacts> => {
    const known = new Map(FACT_GROUPS.map((group) => [group, revisions.get(id(chainId, group)) ?? '']));
    const { version, publishedMs, groups } = await remote.changedSince(chainId, known);
    const changed: Groups = { ...own };
    for (const [group, found] of groups) {
      const key = id(chainId, group);
      if (found.revision === '') {
        revisions.delete(key);
        if (state(chainId, group).lastAttemptMs !== null) missingInRedis.add(key);
        continue;
      }
      revisions.set(key, found.revision);
      const theirs = await read(chainId, group, found);
      if (theirs === null) continue;
      const ours = own[group] ?? state(chainId, group);
      const join = unshared.has(key) || own[group] ? uniteGroups : followGroup;
      const joined = join<FactGroup>(group, ours as never, theirs as never, clock.now());
      changed[group] = joined;
      if (knowsMore(joined, theirs)) missingInRedis.add(key);
      else missingInRedis.delete(key);
    }
    return apply(chainId, changed, version, publishedMs);
  };

  /**
   * Write states of one moment as one version. Concurrent writes of others are united with ours and written again; when
   * restoring, only if ours adds something.
   */
  const push = async (chainId: ChainId, mine: Groups, isRestore = false): Promise<ChainFacts> => {
    const next: Groups = { ...mine };
    let groups = groupsOf(mine);
    const nowMs = clock.now();
    try {
      for (let attempt = 0; attempt < MAX_COLLISIONS; attempt++) {
        const writes: RemoteGroupWrite[] = [];
        for (const group of groups) {
          const expected = revisions.get(id(chainId, group)) ?? '';
          const payload = await textOf(group, next[group] as GroupState<unknown>);
          writes.push({ group, expected, revision: randomUUID(), payload });
        }
        const { version: floor } = local.facts(chainId);
        if (await remote.write(chainId, { groups: writes, floor, publishedMs: nowMs })) {
          for (const { group, revision } of writes) {
            revisions.set(id(chainId, group), revision);
            unshared.delete(id(chainId, group));
            missingInRedis.delete(id(chainId, group));
          }
          return await pull(chainId, next);
        }
        for (const { group, expected } of writes) {
          const found = await remote.group(chainId, group);
          if (found.revision === expected) continue;
          revisions.set(id(chainId, group), found.revision);
          const theirs = await read(chainId, group, found);
          if (theirs === null) continue;
          const ours = next[group] as never;
          const united = uniteGroups<FactGroup>(group, theirs as never, ours, clock.now());
          next[group] = united;
          if (!isRestore || knowsMore(united, theirs)) continue;
          groups = groups.filter((other) => other !== group);
          unshared.delete(id(chainId, group));
          missingInRedis.delete(id(chainId, group));
        }
        if (groups.length === 0) return await pull(chainId, next);
      }
      logger.warn({ chainId, groups }, 'shared facts are contended');
    } catch (error) {
      // The message alone, because the client's errors carry the whole command, payload included.
      const why = error instanceof Error ? error.message : 'unknown';
      logger.debug({ chainId, groups, why }, 'facts are kept until Redis is back');
    }
    for (const group of groups) unshared.add(id(chainId, group));
    return apply(chainId, next, 0, nowMs);
  };

  /** Write the data that Redis lacks. */
  const restoreToRedis = async (chainId: ChainId): Promise<void> => {
    const lacking = FACT_GROUPS.filter((group) => {
      const key = id(chainId, group);
      return missingInRedis.has(key) || unshared.has(key);
    });
    if (lacking.length === 0) return;
    const states: Groups = Object.fromEntries(lacking.map((group) => [group, state(chainId, group)]));
    await push(chainId, states, true);
  };

  /** Read newer data, then write the data that Redis lacks: after a reconnect, and from time to time. */
  const reconcile = (chainId: ChainId): Promise<void> => {
    if (reconciling.has(chainId) || closed) return Promise.resolve();
    reconciling.add(chainId);
    return mutex(chainId, async () => {
      reconciling.delete(chainId);
      await pull(chainId);
      await restoreToRedis(chainId);
    }).catch(() => {});
  };

  /** Measure the skew against the clock of Redis, which all processes share. */
  const measureSkew = async (): Promise<void> => {
    const askedMs = clock.now();
    const [seconds, microseconds] = await redis.time();
    const answeredMs = clock.now();
    if (answeredMs - askedMs > MAX_CLOCK_READ_MS) return;
    const skewMs = Math.round((askedMs + answeredMs) / 2 - (Number(seconds) * 1_000 + Number(microseconds) / 1_000));
    const wasOff = clockSkewMs !== null && Math.abs(clockSkewMs) > MAX_AHEAD_MS;
    const isOff = Math.abs(skewMs) > MAX_AHEAD_MS;
    clockSkewMs = skewMs;
    if (isOff && !wasOff) logger.warn({ skewMs }, 'clock is off from the one of Redis');
    if (wasOff && !isOff) logger.info({ skewMs }, 'clock agrees with the one of Redis again');
  };

  const schedulePull = (chainId: ChainId): void => {
    if (pulling.has(chainId) || closed) return;
    pulling.add(chainId);
    mutex(chainId, () => {
      pulling.delete(chainId);
      return pull(chainId);
    }).catch(() => {});
  };

  const heal = (): void => {
    if (redis.status !== 'ready') return;
    measureSkew().catch(() => {});
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
      await push(chainId, merged);
      // A write detects lost data. Without Redis there is nothing to restore.
      if (unshared.size === 0 && missingInRedis.size > 0) await restoreToRedis(chainId);
      return local.facts(chainId);
    });

  return {
    facts: local.facts,
    subscribe: local.subscribe,
    publish: (chainId, group, publication) => publishAll(chainId, { [group]: publication }),
    publishAll,
    place: () => ({
      kind: 'redis',
      ok: redis.isAlive() && notices.isAlive() && unshared.size === 0 && missingInRedis.size === 0,
      clockSkewMs: clockSkewMs ?? undefined,
    }),
    restore: async () => {
      const [ready] = await Promise.all([untilAlive(redis, restoreWaitMs), untilAlive(notices, restoreWaitMs)]);
      if (!ready) return;
      await Promise.all(chainIds.map((chainId) => mutex(chainId, () => pull(chainId)).catch(() => {})));
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

/** Whether a state has an item that the other lacks, or a newer measurement of one. */
function knowsMore(ours: GroupState<unknown>, theirs: GroupState<unknown>): boolean {
  for (const [key, { asOfMs }] of ours.items) {
    const known = theirs.items.get(key);
    if (known === undefined || known.asOfMs < asOfMs) return true;
  }
  return false;
}

async function textOf(group: FactGroup, state: GroupState<unknown>): Promise<string> {
  const pages: string[] = [];
  for await (const page of inPages(encodeGroup(group, state), ITEMS_PER_PAGE)) pages.push(page.join(''));
  return pages.join('');
}

import { randomUUID } from 'node:crypto';
import { type ChainFacts, FACT_GROUPS, type FactGroup, type GroupState } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { isFromFuture } from '../shared/observed.ts';
import { inTurns } from '../shared/turns.ts';
import { CodecVersionError, decodeGroup, encodeGroup } from './codec.ts';
import type { createLocalFacts } from './local.ts';
import { followGroup, groupsOf, type KeepItem, retain, uniteGroups, withGroups } from './merge.ts';
import type { RemoteFacts, RemoteGroup, RemoteGroupWrite } from './redis-remote.ts';
import type { Unreadable } from './types.ts';

/** Maximum collisions of a write. Leases leave one writer per group, so more collisions mean that the leases fail. */
const MAX_COLLISIONS = 8;

type Groups = Partial<Record<FactGroup, GroupState<unknown>>>;

export interface SyncDeps {
  readonly remote: RemoteFacts;
  readonly local: ReturnType<typeof createLocalFacts>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keep: (chainId: ChainId) => KeepItem;
}

/** State of the synchronization of the local facts with those in Redis. */
export interface Sync extends SyncDeps {
  /**
   * Revision of each group as last read or written. Revisions are random tokens, so that a Redis that starts anew is detected.
   */
  readonly revisions: Map<string, string>;
  /** Groups whose local state Redis has not accepted yet. */
  readonly unshared: Set<string>;
  /** Groups that Redis lost, or has less of than this process. */
  readonly missingInRedis: Set<string>;
  /** Groups in Redis that cannot be read. A damaged one is written again from facts that were read, one of another version never. */
  readonly unreadable: Map<string, Unreadable>;
}

/** The state before the first read or write. */
export function createSync(deps: SyncDeps): Sync {
  return { ...deps, revisions: new Map(), unshared: new Set(), missingInRedis: new Set(), unreadable: new Map() };
}

function id(chainId: ChainId, group: FactGroup): string {
  return `${chainId}:${group}`;
}

function stateOf({ local }: Sync, chainId: ChainId, group: FactGroup): GroupState<unknown> {
  return local.facts(chainId).groups[group];
}

/** Apply groups to the local copy as one version. */
function apply(
  { local, clock, keep }: Sync,
  chainId: ChainId,
  groups: Groups,
  version: number,
  publishedMs: number,
): ChainFacts {
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
}

/** Decode a group; `null` = it cannot be read. */
async function read(
  { logger, unreadable }: Sync,
  chainId: ChainId,
  group: FactGroup,
  { payload }: RemoteGroup,
): Promise<GroupState<unknown> | null> {
  const key = id(chainId, group);
  try {
    const state = await decodeGroup(group, payload ?? '');
    unreadable.delete(key);
    return state;
  } catch (error) {
    const reason = error instanceof CodecVersionError ? 'other_version' : 'damaged';
    unreadable.set(key, { chainId, group, reason });
    logger.warn({ chainId, group, reason, error }, 'shared facts cannot be read');
    return null;
  }
}

const isOfOtherVersion = ({ unreadable }: Sync, chainId: ChainId, group: FactGroup): boolean =>
  unreadable.get(id(chainId, group))?.reason === 'other_version';

/** Whether this process has read facts of a group, from a provider or from Redis. */
const hasFacts = (sync: Sync, chainId: ChainId, group: FactGroup): boolean =>
  stateOf(sync, chainId, group).items.size > 0;

/** Read the writes of others since the last pull, and apply them together with `own` (just written) as one version. */
export async function pull(sync: Sync, chainId: ChainId, own: Groups = {}): Promise<ChainFacts> {
  const { remote, clock, revisions, unshared, missingInRedis, unreadable } = sync;
  const known = new Map(FACT_GROUPS.map((group) => [group, revisions.get(id(chainId, group)) ?? '']));
  const { version, publishedMs, groups, isOtherType } = await remote.changedSince(chainId, known);
  const changed: Groups = { ...own };
  for (const group of FACT_GROUPS) {
    const key = id(chainId, group);
    if (isOtherType) {
      revisions.delete(key);
      unreadable.set(key, { chainId, group, reason: 'other_type' });
      if (hasFacts(sync, chainId, group)) missingInRedis.add(key);
    } else if (unreadable.get(key)?.reason === 'other_type') unreadable.delete(key);
  }
  for (const [group, found] of groups) {
    const key = id(chainId, group);
    if (found.revision === '') {
      revisions.delete(key);
      unreadable.delete(key);
      if (stateOf(sync, chainId, group).lastAttemptMs !== null) missingInRedis.add(key);
      continue;
    }
    revisions.set(key, found.revision);
    const theirs = await read(sync, chainId, group, found);
    if (theirs === null) {
      if (hasFacts(sync, chainId, group) && !isOfOtherVersion(sync, chainId, group)) missingInRedis.add(key);
      continue;
    }
    const ours = own[group] ?? stateOf(sync, chainId, group);
    const join = unshared.has(key) || own[group] ? uniteGroups : followGroup;
    const joined = join<FactGroup>(group, ours as never, theirs as never, clock.now());
    changed[group] = joined;
    if (knowsMore(joined, theirs, clock.now())) missingInRedis.add(key);
    else missingInRedis.delete(key);
  }
  return apply(sync, chainId, changed, version, publishedMs);
}

/**
 * Write states of one moment as one version. Concurrent writes of others are united with ours and written again; when
 * restoring, only if ours adds something.
 */
export async function push(sync: Sync, chainId: ChainId, mine: Groups, isRestore = false): Promise<ChainFacts> {
  const { remote, local, clock, logger, revisions, unshared, missingInRedis, unreadable } = sync;
  const next: Groups = { ...mine };
  const isWritable = (group: FactGroup) => !isOfOtherVersion(sync, chainId, group);
  let groups = groupsOf(mine).filter(isWritable);
  const nowMs = clock.now();
  try {
    for (let attempt = 0; attempt < MAX_COLLISIONS && groups.length > 0; attempt++) {
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
          unreadable.delete(id(chainId, group));
        }
        return await pull(sync, chainId, next);
      }
      for (const { group, expected } of writes) {
        const found = await remote.group(chainId, group);
        if (found.revision === expected) continue;
        revisions.set(id(chainId, group), found.revision);
        const theirs = await read(sync, chainId, group, found);
        if (theirs === null) continue;
        const ours = next[group] as never;
        const united = uniteGroups<FactGroup>(group, theirs as never, ours, clock.now());
        next[group] = united;
        if (!isRestore || knowsMore(united, theirs, clock.now())) continue;
        groups = groups.filter((other) => other !== group);
        unshared.delete(id(chainId, group));
        missingInRedis.delete(id(chainId, group));
      }
      groups = groups.filter(isWritable);
    }
    if (groups.length === 0) return await pull(sync, chainId, next);
    logger.warn({ chainId, groups }, 'shared facts are contended');
  } catch (error) {
    // The message alone, because the client's errors carry the whole command, payload included.
    const why = error instanceof Error ? error.message : 'unknown';
    logger.debug({ chainId, groups, why }, 'facts stay in memory until Redis answers');
  }
  for (const group of groups) unshared.add(id(chainId, group));
  return apply(sync, chainId, next, 0, nowMs);
}

/** Write the data that Redis lacks. */
export async function restoreToRedis(sync: Sync, chainId: ChainId): Promise<void> {
  const { missingInRedis, unshared } = sync;
  const lacking = FACT_GROUPS.filter((group) => {
    const key = id(chainId, group);
    return missingInRedis.has(key) || unshared.has(key);
  });
  if (lacking.length === 0) return;
  const states: Groups = Object.fromEntries(lacking.map((group) => [group, stateOf(sync, chainId, group)]));
  await push(sync, chainId, states, true);
}

/** Whether a state has an item that the other lacks, or a newer measurement of one. One from the future does not count. */
function knowsMore(ours: GroupState<unknown>, theirs: GroupState<unknown>, nowMs: number): boolean {
  for (const [key, { asOfMs }] of ours.items) {
    const known = theirs.items.get(key);
    if (known === undefined || known.asOfMs < asOfMs || isFromFuture(known.asOfMs, nowMs)) return true;
  }
  return false;
}

async function textOf(group: FactGroup, state: GroupState<unknown>): Promise<string> {
  const parts: string[] = [];
  for await (const part of inTurns(encodeGroup(group, state))) parts.push(part);
  return parts.join('');
}

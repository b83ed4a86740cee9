import {
  type ChainFacts,
  FACT_GROUPS,
  type FactGroup,
  type FactGroups,
  type Failure,
  type GroupState,
} from '../domain/facts.ts';
import { ofNow, withoutFuture } from '../domain/freshness/future.ts';
import type { Publication, Publications } from './types.ts';

/** Whether an item is still in the catalog. */
export type KeepItem = (group: FactGroup, key: string) => boolean;

/**
 * Merge the refresh of one group, or of several of one moment, into the facts and make the next version. Last-good applies per
 * item: keys that the publication lacks keep their value and failure. A failure never changes a value or its `asOfMs`; it
 * keeps its first `sinceMs` and its unconfirmed value until the item succeeds. An older measurement than the known one is
 * dropped. A measurement from the future is removed if it is known, and fails as implausible if it is new.
 */
export function mergePublications(facts: ChainFacts, publications: Publications, nowMs: number): ChainFacts {
  return withGroups(facts, mergeGroups(facts, publications, nowMs), facts.version + 1, nowMs);
}

/** Merge refreshes into their groups by the rules of `mergePublications`, for stores that count versions themselves. */
export function mergeGroups(
  facts: ChainFacts,
  publications: Publications,
  nowMs: number,
): Partial<Record<FactGroup, GroupState<unknown>>> {
  const merged: Partial<Record<FactGroup, GroupState<unknown>>> = {};
  for (const group of groupsOf(publications)) {
    merged[group] = mergeGroup<FactGroup>(group, facts.groups[group], publications[group] as never, nowMs);
  }
  return merged;
}

/** List the groups of a publication, in the order of all groups. */
export function groupsOf(publications: Partial<Record<FactGroup, unknown>>): readonly FactGroup[] {
  return FACT_GROUPS.filter((group) => publications[group] !== undefined);
}

export function mergeGroup<G extends FactGroup>(
  group: G,
  known: GroupState<FactGroups[G]>,
  publication: Publication<FactGroups[G]>,
  nowMs: number,
): GroupState<FactGroups[G]> {
  const state = withoutFuture(group, known, nowMs);
  const items = new Map(state.items);
  const failures = new Map(state.failures);
  for (const [key, failure] of publication.failures) {
    if (publication.items.has(key)) continue;
    failures.set(key, continued(failure, failures.get(key), publication.attemptedAtMs));
  }
  let hasImplausible = false;
  for (const [key, published] of publication.items) {
    const fact = ofNow(group, published, nowMs);
    if (fact === null) {
      hasImplausible = true;
      const failure = { reason: 'implausible', source: published.source } as const;
      failures.set(key, continued(failure, failures.get(key), publication.attemptedAtMs));
      continue;
    }
    const before = items.get(key);
    if (before !== undefined && before.asOfMs > fact.asOfMs) continue;
    items.set(key, fact);
    failures.delete(key);
  }
  const succeeded =
    publication.failed !== true &&
    !hasImplausible &&
    [...publication.failures.values()].every((failure) => failure.reason === 'not_configured');
  return {
    items,
    failures,
    lastAttemptMs: latest(state.lastAttemptMs, publication.attemptedAtMs),
    lastSuccessMs: succeeded ? latest(state.lastSuccessMs, publication.attemptedAtMs) : state.lastSuccessMs,
  };
}

/** A failure keeps its start, and an unconfirmed value stays until a value is published. */
function continued(failure: Omit<Failure, 'sinceMs'>, before: Failure | undefined, nowMs: number): Failure {
  const suspect = failure.suspect ?? before?.suspect;
  return { ...failure, sinceMs: before?.sinceMs ?? nowMs, suspect };
}

/**
 * Unite two states of one group that diverged (two writers, or one without access to the shared store). The newer measurement
 * of each item counts. Its failure is that of the latest attempt, unless the item was measured since. Values from the future,
 * in either, do not count.
 */
export function uniteGroups<G extends FactGroup>(
  group: G,
  one: GroupState<FactGroups[G]>,
  other: GroupState<FactGroups[G]>,
  nowMs: number,
): GroupState<FactGroups[G]> {
  const a = withoutFuture(group, one, nowMs);
  const b = withoutFuture(group, other, nowMs);
  const items = new Map(a.items);
  for (const [key, fact] of b.items) {
    const known = items.get(key);
    if (known === undefined || fact.asOfMs >= known.asOfMs) items.set(key, fact);
  }
  const [older, newer] = (a.lastAttemptMs ?? 0) <= (b.lastAttemptMs ?? 0) ? [a, b] : [b, a];
  const failures = new Map<string, Failure>();
  for (const key of new Set([...older.failures.keys(), ...newer.failures.keys()])) {
    const failure = failureOf(key, older, newer);
    if (failure) failures.set(key, failure);
  }
  return {
    items,
    failures,
    lastAttemptMs: latest(a.lastAttemptMs, b.lastAttemptMs),
    lastSuccessMs: latest(a.lastSuccessMs, b.lastSuccessMs),
  };
}

/**
 * Follow a later write of another process. The newer measurement of each item still counts, so that a store that was reset to
 * an older state loses no facts. Failures and attempts are those of the other process, unless ours are later.
 */
export function followGroup<G extends FactGroup>(
  group: G,
  ours: GroupState<FactGroups[G]>,
  theirs: GroupState<FactGroups[G]>,
  nowMs: number,
): GroupState<FactGroups[G]> {
  const followed = withoutFuture(group, theirs, nowMs);
  const united = uniteGroups(group, ours, followed, nowMs);
  if ((followed.lastAttemptMs ?? 0) < (united.lastAttemptMs ?? 0)) return united;
  return { ...followed, items: united.items };
}

/**
 * Drop the items and failures, of some groups or of all, whose key `keep` rejects. Returns the same object when there are
 * none.
 */
export function retain(facts: ChainFacts, keep: KeepItem, among: readonly FactGroup[] = FACT_GROUPS): ChainFacts {
  const changed = among.filter((group) => {
    const { items, failures } = facts.groups[group];
    return hasRejected(items, group, keep) || hasRejected(failures, group, keep);
  });
  if (changed.length === 0) return facts;
  const groups = Object.fromEntries(
    changed.map((group) => [group, retainGroup<unknown>(facts.groups[group], (key) => keep(group, key))]),
  );
  return withGroups(facts, groups, facts.version, facts.publishedMs);
}

function hasRejected(map: ReadonlyMap<string, unknown>, group: FactGroup, keep: KeepItem): boolean {
  for (const key of map.keys()) if (!keep(group, key)) return true;
  return false;
}

/** Drop the items and failures of one group whose key `keep` rejects. */
function retainGroup<T>(state: GroupState<T>, keep: (key: string) => boolean): GroupState<T> {
  const retained = <V>(map: ReadonlyMap<string, V>): Map<string, V> => new Map([...map].filter(([key]) => keep(key)));
  return { ...state, items: retained(state.items), failures: retained(state.failures) };
}

/** Make the next facts with some groups replaced. */
export function withGroups(
  facts: ChainFacts,
  groups: Partial<Record<FactGroup, GroupState<unknown>>>,
  version: number,
  publishedMs: number,
): ChainFacts {
  return { ...facts, version, publishedMs, groups: { ...facts.groups, ...groups } as ChainFacts['groups'] };
}

function failureOf<T>(key: string, older: GroupState<T>, newer: GroupState<T>): Failure | undefined {
  const latest = newer.failures.get(key);
  const before = older.failures.get(key);
  if (latest) return before && before.sinceMs < latest.sinceMs ? { ...latest, sinceMs: before.sinceMs } : latest;
  const measured = newer.items.get(key)?.asOfMs ?? 0;
  return before && measured <= (older.items.get(key)?.asOfMs ?? 0) ? before : undefined;
}

function latest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

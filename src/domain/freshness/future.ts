import { isFromFuture } from '../../shared/observed.ts';
import type { RateHistory } from '../../shared/rate-history.ts';
import type { Fact, FactGroup, FactGroups, Failure, GroupState } from '../facts.ts';

/**
 * Remove items, attempts and history points with a time in the future from a group. Returns the same object if there are none.
 * Otherwise a value written by a process with a wrong clock would keep newer facts out.
 */
export function withoutFuture<G extends FactGroup>(
  group: G,
  state: GroupState<FactGroups[G]>,
  nowMs: number,
): GroupState<FactGroups[G]> {
  const items = cleaned(state.items, (fact) => ofNow(group, fact, nowMs));
  const failures = cleaned(state.failures, (failure) => (isFromFuture(failure.sinceMs, nowMs) ? null : failure));
  const lastAttemptMs = timeOfNow(state.lastAttemptMs, nowMs);
  const lastSuccessMs = timeOfNow(state.lastSuccessMs, nowMs);
  const isSame =
    items === state.items &&
    failures === state.failures &&
    lastAttemptMs === state.lastAttemptMs &&
    lastSuccessMs === state.lastSuccessMs;
  return isSame ? state : { items, failures, lastAttemptMs, lastSuccessMs };
}

/** Clean one fact; `null` = its own time is in the future. Returns the same object if nothing in it changes. */
export function ofNow<G extends FactGroup>(
  group: G,
  fact: Fact<FactGroups[G]>,
  nowMs: number,
): Fact<FactGroups[G]> | null {
  if (isFromFuture(fact.asOfMs, nowMs)) return null;
  const clean = CLEAN[group];
  const value = clean === undefined ? fact.value : clean(fact.value, nowMs);
  return value === fact.value ? fact : { ...fact, value };
}

type Clean = { readonly [G in FactGroup]?: (value: FactGroups[G], nowMs: number) => FactGroups[G] };

/** Per group: remove future observation times within the value. Starts and ends of campaigns may lie ahead. */
const CLEAN: Clean = {
  collateralApy: (value, nowMs) => withHistory(value, 'history', nowMs),
  borrowHistory: (value, nowMs) => withHistory(value, 'points', nowMs),
  stableIndex: (value, nowMs) => withHistory(value, 'history', nowMs),
  incentiveHistory: (value, nowMs) => {
    const campaigns = value.campaigns.map((campaign) => withHistory(campaign, 'steps', nowMs));
    return campaigns.every((campaign, i) => campaign === value.campaigns[i]) ? value : { campaigns };
  },
};

function withHistory<V extends object, K extends keyof V>(value: V, field: K, nowMs: number): V {
  const history = value[field] as RateHistory | undefined;
  if (history === undefined) return value;
  const end = history.findLastIndex(({ atMs }) => !isFromFuture(atMs, nowMs)) + 1;
  return end === history.length ? value : { ...value, [field]: history.slice(0, end) };
}

function timeOfNow(atMs: number | null, nowMs: number): number | null {
  return atMs !== null && isFromFuture(atMs, nowMs) ? null : atMs;
}

/** Clean the values of a map. Returns the same map if every entry stays as it is. */
function cleaned<V extends Fact<unknown> | Failure>(
  map: ReadonlyMap<string, V>,
  clean: (value: V) => V | null,
): ReadonlyMap<string, V> {
  const changed = new Map<string, V | null>();
  for (const [key, value] of map) {
    const cleanValue = clean(value);
    if (cleanValue !== value) changed.set(key, cleanValue);
  }
  if (changed.size === 0) return map;
  const result = new Map(map);
  for (const [key, value] of changed) {
    if (value === null) result.delete(key);
    else result.set(key, value);
  }
  return result;
}

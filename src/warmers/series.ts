import type { ApyPoint } from '../domain/facts.ts';

const DAY_MS = 86_400_000;
/** A year and the longest trailing window, with some days to spare. */
const KEPT_DAYS = 400;

/**
 * Continue a daily history: a day that the fresh one has is its alone, and a day that it lacks keeps what was known of it,
 * so that an answer with holes, or without history, takes nothing away. Oldest first, at most 400 days back from the newest.
 */
export function continueSeries(
  fresh: readonly ApyPoint[] | undefined,
  known: readonly ApyPoint[] | undefined,
): readonly ApyPoint[] | undefined {
  if (fresh === undefined || known === undefined) return fresh ?? known;
  const days = new Set(fresh.map(({ atMs }) => dayOf(atMs)));
  const kept = known.filter(({ atMs }) => !days.has(dayOf(atMs)));
  if (kept.length === 0) return fresh;
  const points = [...kept, ...fresh].sort((a, b) => a.atMs - b.atMs);
  const oldestDay = dayOf(points.at(-1)?.atMs ?? 0) - KEPT_DAYS;
  return points.filter(({ atMs }) => dayOf(atMs) > oldestDay);
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

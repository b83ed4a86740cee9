import { Decimal } from './decimal.ts';

export interface RatePoint {
  /** Start of the day that is meant, or the time of the sample, ms. */
  readonly atMs: number;
  /** Percent per year, exact. */
  readonly ratePct: Decimal;
}

declare const packed: unique symbol;

/**
 * Points oldest first, as one text: `atMs:ratePct`, separated by commas. Histories are most of what is known of a market and
 * the least read: as objects, ten thousand of them are millions, and the garbage collector visits each.
 */
export type RateHistory = string & { readonly [packed]: true };

const NUMBER = String.raw`-?\d+(?:\.\d+)?`;
const HISTORY = new RegExp(`^(?:${NUMBER}:${NUMBER}(?:,${NUMBER}:${NUMBER})*)?$`);

/** Pack points, which are in order. */
export function packHistory(points: readonly RatePoint[]): RateHistory {
  return points.map(({ atMs, ratePct }) => `${atMs}:${ratePct.toFixed()}`).join(',') as RateHistory;
}

/** Read the points of a history. */
export function pointsOf(history: RateHistory): readonly RatePoint[] {
  if (history === '') return [];
  return history.split(',').map((point) => {
    const colon = point.indexOf(':');
    return { atMs: Number(point.slice(0, colon)), ratePct: new Decimal(point.slice(colon + 1)) };
  });
}

/** Read when a history begins, ms. @throws RangeError when it is empty */
export function firstMsOf(history: RateHistory): number {
  if (history === '') throw new RangeError('An empty history has no beginning.');
  return Number(history.slice(0, history.indexOf(':')));
}

/** Read when a history's newest point is, ms; `null` when it is empty. */
export function lastMsOf(history: RateHistory): number | null {
  if (history === '') return null;
  const newest = history.slice(history.lastIndexOf(',') + 1);
  return Number(newest.slice(0, newest.indexOf(':')));
}

/** Cut a history off before its first point whose time is refused, looking from the newest. The same text when none is. */
export function cutAfter(history: RateHistory, isTaken: (atMs: number) => boolean): RateHistory {
  let kept = history;
  for (let atMs = lastMsOf(kept); atMs !== null && !isTaken(atMs); atMs = lastMsOf(kept)) {
    kept = kept.slice(0, Math.max(kept.lastIndexOf(','), 0)) as RateHistory;
  }
  return kept;
}

/** Say whether a text is what `packHistory` writes. */
export function isRateHistory(text: unknown): text is RateHistory {
  return typeof text === 'string' && HISTORY.test(text);
}

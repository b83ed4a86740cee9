import { Decimal, ZERO } from '../../shared/decimal.ts';
import type { RatePoint } from '../../shared/rate-history.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Bucket widths; `null` = as recorded. */
export const RESOLUTIONS = { RAW: null, HOUR: HOUR_MS, DAY: DAY_MS, WEEK: 7 * DAY_MS } as const;
export type Resolution = keyof typeof RESOLUTIONS;
export type Downsampling = 'MEAN' | 'LAST';

/** Weeks begin on Mondays: the epoch was a Thursday. */
const WEEK_SHIFT_MS = 4 * DAY_MS;

/**
 * Fold points (oldest first) into one per bucket, at the bucket's start in UTC. `MEAN` is the mean of the bucket's points,
 * `LAST` its newest. A bucket without a point stays empty: nothing is interpolated.
 */
export function downsample(
  points: readonly RatePoint[],
  resolution: Resolution,
  method: Downsampling,
): readonly RatePoint[] {
  const width = RESOLUTIONS[resolution];
  if (width === null) return points;
  const shift = resolution === 'WEEK' ? WEEK_SHIFT_MS : 0;
  const buckets = new Map<number, Decimal[]>();
  for (const { atMs, ratePct } of points) {
    const start = Math.floor((atMs - shift) / width) * width + shift;
    const rates = buckets.get(start);
    if (rates) rates.push(ratePct);
    else buckets.set(start, [ratePct]);
  }
  return [...buckets].map(([atMs, rates]) => ({ atMs, ratePct: method === 'LAST' ? newest(rates) : mean(rates) }));
}

/**
 * The same for a step function, where a point holds until the next one: `MEAN` weighs each rate with the time that it held,
 * inside `[first point, toMs)`, and a bucket in which nothing changed carries the rate on.
 */
export function downsampleSteps(
  points: readonly RatePoint[],
  resolution: Resolution,
  method: Downsampling,
  toMs: number,
): readonly RatePoint[] {
  const width = RESOLUTIONS[resolution];
  const first = points[0];
  if (width === null || !first) return points;
  const shift = resolution === 'WEEK' ? WEEK_SHIFT_MS : 0;
  const buckets: RatePoint[] = [];
  let next = 0;
  let rate = first.ratePct;
  for (let start = Math.floor((first.atMs - shift) / width) * width + shift; start < toMs; start += width) {
    const end = Math.min(start + width, toMs);
    let since = Math.max(start, first.atMs);
    let weighted = ZERO;
    const from = since;
    for (let point = points[next]; point && point.atMs < end; point = points[++next]) {
      weighted = weighted.plus(rate.times(point.atMs - since));
      since = point.atMs;
      rate = point.ratePct;
    }
    weighted = weighted.plus(rate.times(end - since));
    buckets.push({ atMs: start, ratePct: method === 'LAST' || end === from ? rate : weighted.div(end - from) });
  }
  return buckets;
}

function newest(rates: readonly Decimal[]): Decimal {
  return rates.at(-1) ?? ZERO;
}

/** A quotient need not end: as many places as the rates themselves are measured with. */
const MEAN_PLACES = 18;

function mean(rates: readonly Decimal[]): Decimal {
  return rates
    .reduce((sum, rate) => sum.plus(rate), new Decimal(0))
    .div(rates.length)
    .decimalPlaces(MEAN_PLACES);
}

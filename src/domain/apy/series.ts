import { type Decimal, formatPct, ZERO } from '../../shared/decimal.ts';
import type { RatePoint } from '../../shared/rate-history.ts';

export const DAY_MS = 86_400_000;
/** A history may start this much later than its window and still count as covering it. */
const GRACE_DAYS = 3;
export const WINDOWS_DAYS = [30, 60, 90] as const;
export type WindowDays = (typeof WINDOWS_DAYS)[number];

const WINDOW_NAMES = { 30: 'avg30d', 60: 'avg60d', 90: 'avg90d' } as const satisfies Record<WindowDays, string>;
/** Property name of a window's mean. Names are not plain numbers, because V8 allocates an element for every smaller index. */
export type WindowName = (typeof WINDOW_NAMES)[WindowDays];

/** Means over the trailing windows, percent at full precision; a window that the history does not cover is absent. */
export type WindowMeans = Readonly<Partial<Record<WindowName, Decimal>>>;

/** Look up the mean of one window. */
export function meanOver(means: WindowMeans, days: WindowDays): Decimal | undefined {
  return means[WINDOW_NAMES[days]];
}

/** A history folded into one point per UTC day, with running sums, so that the mean of any window costs two look-ups. */
export interface Trailing {
  /** When the history begins, ms. */
  readonly firstMs: number;
  readonly dayMs: readonly number[];
  /** `sums[i]` is the sum of the first `i` days. */
  readonly sums: readonly Decimal[];
}

/** Points older than this cannot be in any window (with a week to spare) and are left out of the series. */
const HORIZON_MS = (Math.max(...WINDOWS_DAYS) + 7) * DAY_MS;

/** Fold a history into daily points; several points of one UTC day count as their mean. `undefined` for an empty one. */
export function trailingOf(points: readonly RatePoint[]): Trailing | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return undefined;
  const dayMs: number[] = [];
  const sums: Decimal[] = [ZERO];
  let total = ZERO;
  let day = Number.NaN;
  let sum = ZERO;
  let count = 0;
  const close = () => {
    if (count === 0) return;
    total = total.plus(count === 1 ? sum : sum.div(count));
    dayMs.push(day);
    sums.push(total);
  };
  for (const { atMs, ratePct } of points.slice(firstWithinHorizon(points, last.atMs - HORIZON_MS))) {
    const pointDay = startOfDay(atMs);
    if (pointDay !== day) {
      close();
      [day, sum, count] = [pointDay, ZERO, 0];
    }
    sum = count === 0 ? ratePct : sum.plus(ratePct);
    count += 1;
  }
  close();
  return { firstMs: first.atMs, dayMs, sums };
}

/** Check whether the history covers the window that ends at `endMs`, with the grace period. */
function coversWindow(firstMs: number, endMs: number, days: number): boolean {
  return firstMs <= endMs - (days - GRACE_DAYS) * DAY_MS;
}

/** Average the daily points of the window `(endMs − days, endMs]`; `undefined` when the history does not cover it. */
export function windowMean(trailing: Trailing, endMs: number, days: WindowDays): Decimal | undefined {
  if (!coversWindow(trailing.firstMs, endMs, days)) return undefined;
  // Daily points are at the start of their day, so the time of day at which a window ends makes no difference.
  const endDayMs = startOfDay(endMs);
  const to = firstAfter(trailing.dayMs, endDayMs);
  const from = firstAfter(trailing.dayMs, endDayMs - days * DAY_MS);
  const [before, until] = [trailing.sums[from], trailing.sums[to]];
  return before && until && to > from ? until.minus(before).div(to - from) : undefined;
}

/** Average over each trailing window. */
export function windowMeans(trailing: Trailing, endMs: number): WindowMeans {
  return meansOf((days) => windowMean(trailing, endMs, days));
}

/** Evaluate each window. Unknown windows are left out. */
export function meansOf(mean: (days: WindowDays) => Decimal | undefined): WindowMeans {
  const means: Partial<Record<WindowName, Decimal>> = {};
  for (const days of WINDOWS_DAYS) {
    const value = mean(days);
    if (value) means[WINDOW_NAMES[days]] = value;
  }
  return means;
}

/** Means over the trailing windows, percent with 2 decimals; a window that the history does not cover is absent. */
export type FormattedMeans = Readonly<Partial<Record<WindowName, string>>>;

/** Format trailing means; `undefined` when no window is covered. */
export function formatMeans(means: WindowMeans): FormattedMeans | undefined {
  const formatted = Object.entries(means).map(([name, mean]) => [name, formatPct(mean)] as const);
  return formatted.length === 0 ? undefined : Object.fromEntries(formatted);
}

export interface StepPoint {
  readonly atMs: number;
  readonly aprPct: Decimal;
}

/**
 * Average a step function over `[fromMs, toMs)`. Each point (oldest first) holds until the next one, the last one until the
 * end. The value before the first point is 0.
 * @throws RangeError when the span is empty.
 */
export function stepAverage(points: readonly StepPoint[], fromMs: number, toMs: number): Decimal {
  if (toMs <= fromMs) throw new RangeError('The span of a step average must not be empty.');
  let weighted = ZERO;
  for (let index = 0; index < points.length; index += 1) {
    const point = points[index];
    if (!point || point.aprPct.isZero()) continue;
    const start = Math.max(point.atMs, fromMs);
    const end = Math.min(points[index + 1]?.atMs ?? toMs, toMs);
    if (end > start) weighted = weighted.plus(point.aprPct.times(end - start));
  }
  return weighted.div(toMs - fromMs);
}

function startOfDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}

function firstWithinHorizon(points: readonly RatePoint[], fromMs: number): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const point = points[middle];
    if (point !== undefined && point.atMs < fromMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first day that is later than `atMs`. */
function firstAfter(days: readonly number[], atMs: number): number {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((days[middle] ?? Number.POSITIVE_INFINITY) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

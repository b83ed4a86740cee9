import type { Decimal } from '../shared/decimal.ts';
import type { RateHistory } from '../shared/rate-history.ts';
import { type NumericRange, type ParsedValue, readDecimal, readObservedMs, type TimeUnit } from './readings.ts';

export interface SeriesPoint {
  readonly atMs: number;
  readonly value: Decimal;
}

export interface Series {
  /** Oldest first, one point per time. */
  readonly points: readonly SeriesPoint[];
  /** Rows whose time or value could not be used. */
  readonly dropped: number;
  /** The row with the latest readable time, even if its value is unusable: the provider's current value and its time. */
  readonly latest: ParsedValue<Decimal>;
}

/**
 * Read the rows of a history. Unusable rows and rows with a future time are dropped and counted. Of two rows for the same time
 * the later in the answer counts, because providers append corrections.
 */
export function readSeries(
  rows: readonly { readonly at: unknown; readonly value: unknown }[],
  rules: {
    readonly time: TimeUnit;
    readonly within: NumericRange;
    readonly decimalShift?: number | undefined;
    readonly nowMs: number;
  },
): Series {
  const byTime = new Map<number, ParsedValue<Decimal>>();
  let dropped = 0;
  for (const row of rows) {
    const at = readObservedMs(row.at, rules.time, rules.nowMs);
    if (at.ok) byTime.set(at.value, readDecimal(row.value, rules.within, rules.decimalShift));
    else dropped += 1;
  }
  const ordered = [...byTime].sort(([a], [b]) => a - b);
  const points = ordered.flatMap(([atMs, value]) => (value.ok ? [{ atMs, value: value.value }] : []));
  return {
    points,
    dropped: dropped + ordered.length - points.length,
    latest: latestOf(ordered.at(-1)) ?? { ok: false, reason: rows.length === 0 ? 'missing' : 'malformed' },
  };
}

function latestOf(row: readonly [number, ParsedValue<Decimal>] | undefined): ParsedValue<Decimal> | undefined {
  return row?.[1].ok ? { ...row[1], measuredMs: row[0] } : row?.[1];
}

/** Drop the zeros at the start: padding from before the first measurement. */
export function withoutLeadingZeros(points: readonly SeriesPoint[]): readonly SeriesPoint[] {
  const first = points.findIndex(({ value }) => !value.isZero());
  return first === -1 ? [] : points.slice(first);
}

/** Convert points whose values are percent per year. */
export function historyOf(points: readonly SeriesPoint[]): RateHistory {
  return points.map(({ atMs, value }) => ({ atMs, ratePct: value }));
}

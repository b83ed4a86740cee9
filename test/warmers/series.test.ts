import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import type { RateHistory } from '../../src/shared/rate-history.ts';
import { continueSeries } from '../../src/warmers/series.ts';

const DAY_MS = 86_400_000;
const point = (day: number, ratePct: string) => ({ atMs: day * DAY_MS, ratePct: new Decimal(ratePct) });
const history = (...points: readonly ReturnType<typeof point>[]) => points;
const shown = (series: RateHistory) => series.map(({ atMs, ratePct }) => `${atMs / DAY_MS} ${ratePct.toFixed()}`);

describe(continueSeries, () => {
  test('default: uses days of the preferred series and fills missing ones', () => {
    const known = history(point(1, '1'), point(2, '2'), point(3, '3'));
    const fresh = history(point(1, '10'), point(3, '30'), point(4, '40'));
    expect(shown(continueSeries(fresh, known))).toEqual(['1 10', '2 2', '3 30', '4 40']);
  });

  test('behavior: either series alone is the history', () => {
    const series = history(point(1, '1'));
    expect(continueSeries(series, undefined)).toEqual(series);
    expect(continueSeries(undefined, series)).toEqual(series);
    expect(continueSeries(undefined, undefined)).toBeUndefined();
    expect(continueSeries(history(), series)).toEqual(series);
    expect(continueSeries(series, history())).toEqual(series);
  });

  test('behavior: drops days past the limit', () => {
    const points = continueSeries(history(point(1_000, '2')), history(point(600, '1'), point(601, '1')));
    expect(shown(points)).toEqual(['601 1', '1000 2']);
  });

  test('behavior: sorted, with every preferred point and no foreign point on a preferred day', () => {
    const hourly = fc
      .uniqueArray(fc.integer({ min: 0, max: 90 * 24 }), { maxLength: 40 })
      .map((hours) => hours.sort((a, b) => a - b).map((hour) => point(hour / 24, String(hour))));
    const dayOf = ({ atMs }: { readonly atMs: number }) => Math.floor(atMs / DAY_MS);
    fc.assert(
      fc.property(hourly, hourly, (own, other) => {
        const merged = continueSeries(own, other);
        const days = new Set(own.map(dayOf));
        expect(merged.filter((one) => days.has(dayOf(one)))).toEqual(own);
        expect(merged).toHaveLength(own.length + other.filter((one) => !days.has(dayOf(one))).length);
        expect(merged.every((one, i) => i === 0 || (merged[i - 1]?.atMs ?? 0) <= one.atMs)).toBe(true);
      }),
    );
  });
});

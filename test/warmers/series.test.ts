import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { continueSeries } from '../../src/warmers/series.ts';

const DAY_MS = 86_400_000;
const point = (day: number, apyPct: string) => ({ atMs: day * DAY_MS, apyPct: new Decimal(apyPct) });
const shown = (points: ReturnType<typeof continueSeries>) =>
  points?.map(({ atMs, apyPct }) => `${atMs / DAY_MS} ${apyPct.toFixed()}`);

describe(continueSeries, () => {
  test('default: a fresh day is believed, a day that it lacks keeps what was known', () => {
    const known = [point(1, '1'), point(2, '2'), point(3, '3')];
    expect(shown(continueSeries([point(1, '10'), point(3, '30'), point(4, '40')], known))).toEqual([
      '1 10',
      '2 2',
      '3 30',
      '4 40',
    ]);
  });
  test('behavior: either alone is the history', () => {
    const series = [point(1, '1')];
    expect(continueSeries(series, undefined)).toBe(series);
    expect(continueSeries(undefined, series)).toBe(series);
    expect(continueSeries(undefined, undefined)).toBeUndefined();
    expect(shown(continueSeries([], series))).toEqual(['1 1']);
  });
  test('behavior: days long past fall out', () => {
    const points = continueSeries([point(1_000, '2')], [point(600, '1'), point(601, '1')]);
    expect(shown(points)).toEqual(['601 1', '1000 2']);
  });
});

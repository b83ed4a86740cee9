import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { downsample, downsampleSteps } from '../../src/resolvers/market/downsample.ts';
import { Decimal } from '../../src/shared/decimal.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const point = (atMs: number, rate: number) => ({ atMs, ratePct: new Decimal(rate) });
const shown = (points: readonly { atMs: number; ratePct: Decimal }[]) =>
  points.map(({ atMs, ratePct }) => [atMs, ratePct.toFixed()]);

describe('downsample', () => {
  const points = [point(DAY + 1, 1), point(DAY + HOUR, 3), point(3 * DAY, 5)];

  it('default', () => {
    expect(shown(downsample(points, 'DAY', 'MEAN'))).toEqual([
      [DAY, '2'],
      [3 * DAY, '5'],
    ]);
    expect(shown(downsample(points, 'DAY', 'LAST'))).toEqual([
      [DAY, '3'],
      [3 * DAY, '5'],
    ]);
    expect(downsample(points, 'RAW', 'MEAN')).toBe(points);
  });

  it('behavior: weeks begin on Monday', () => {
    const monday = Date.UTC(2026, 5, 1);
    expect(shown(downsample([point(monday + 6 * DAY, 4)], 'WEEK', 'LAST'))).toEqual([[monday, '4']]);
  });

  it('behavior: a mean is between the smallest and the largest point', () => {
    const rates = fc.array(
      fc.record({ atMs: fc.integer({ min: 0, max: DAY - 1 }), rate: fc.integer({ min: -50, max: 50 }) }),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(rates, (entries) => {
        const [bucket] = downsample(
          entries.map(({ atMs, rate }) => point(atMs, rate)),
          'DAY',
          'MEAN',
        );
        const all = entries.map(({ rate }) => rate);
        expect(bucket?.ratePct.gte(Math.min(...all)) && bucket.ratePct.lte(Math.max(...all))).toBe(true);
      }),
    );
  });
});

describe('downsampleSteps', () => {
  it('default: weights each rate by its duration and carries it forward', () => {
    const steps = [point(0, 10), point(DAY + 6 * HOUR, 2)];
    expect(shown(downsampleSteps(steps, 'DAY', 'MEAN', 3 * DAY))).toEqual([
      [0, '10'],
      [DAY, '4'],
      [2 * DAY, '2'],
    ]);
    expect(shown(downsampleSteps(steps, 'DAY', 'LAST', 3 * DAY))).toEqual([
      [0, '10'],
      [DAY, '2'],
      [2 * DAY, '2'],
    ]);
  });

  it('behavior: no bucket without a point', () => {
    expect(downsampleSteps([], 'DAY', 'MEAN', DAY)).toEqual([]);
  });
});

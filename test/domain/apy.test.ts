import { AdaptiveCurveIrmLib, MarketUtils } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { historicalMeans, quarterlyBorrowApyPct } from '../../src/domain/apy/history.ts';
import { apyPctFromRayRate, borrowApyPctFromRate, borrowRateNow } from '../../src/domain/apy/rates.ts';
import { stepAverage, type Trailing, trailingOf, windowMean, windowMeans } from '../../src/domain/apy/series.ts';
import type { LendingState } from '../../src/domain/facts.ts';
import { Decimal, formatPct } from '../../src/shared/decimal.ts';
import { DAY, daily, NOW_MS } from './world.ts';

function series(days: number, pct: (ago: number) => string): Trailing {
  const made = trailingOf(daily(days, pct));
  if (!made) throw new Error('empty series');
  return made;
}

describe('borrowApyPctFromRate', () => {
  test('default: the SDK’s APY in percent', () => {
    const rate = 1_268_391_679n;
    expect(borrowApyPctFromRate(rate).toNumber()).toBeCloseTo(MarketUtils.rateToApy(rate) * 100, 12);
    expect(formatPct(borrowApyPctFromRate(rate))).toBe('4.08');
    expect(borrowApyPctFromRate(0n).isZero()).toBe(true);
  });
});

describe('borrowRateNow', () => {
  const WAD = 10n ** 18n;
  const stateOf = (borrowed: bigint, rateAtTarget: bigint, elapsed: bigint): LendingState => ({
    totalSupplyAssets: WAD,
    totalSupplyShares: WAD,
    totalBorrowAssets: borrowed,
    totalBorrowShares: borrowed,
    lastUpdate: 1_700_000_000n,
    fee: 0n,
    rateAtTarget,
    borrowRate: AdaptiveCurveIrmLib.getBorrowRate(borrowed, rateAtTarget, elapsed).avgBorrowRate,
    blockNumber: 1n,
    blockTimestamp: 1_700_000_000n + elapsed,
  });

  test('default: the present rate since the last accrual, not the mean', () => {
    const idle = stateOf((95n * WAD) / 100n, 1_268_391_679n, 30n * 86_400n);
    expect(formatPct(borrowApyPctFromRate(idle.borrowRate))).toBe('43.21');
    expect(formatPct(borrowApyPctFromRate(borrowRateNow(idle)))).toBe('118.26');
  });

  test('behavior: equals the SDK in any state of the curve', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: WAD }),
        fc.bigInt({ min: 31_709_791n, max: 10n ** 11n }),
        fc.bigInt({ min: 0n, max: 365n * 86_400n }),
        (borrowed, rateAtTarget, elapsed) => {
          const state = stateOf(borrowed, rateAtTarget, elapsed);
          expect(borrowRateNow(state)).toBe(
            AdaptiveCurveIrmLib.getBorrowRate(borrowed, rateAtTarget, elapsed).endBorrowRate,
          );
        },
      ),
    );
  });

  test('behavior: uses the rate of another rate model unchanged', () => {
    const state = { ...stateOf(WAD / 2n, 1_268_391_679n, 86_400n), borrowRate: 777n };
    expect(borrowRateNow(state)).toBe(777n);
  });
});

describe('apyPctFromRayRate', () => {
  test('default: a savings rate of 4.5 %', () => {
    // The accumulator that makers use for 4.5 % a year.
    const apy = apyPctFromRayRate(1_000_000_001_395_766_281_313_196_627n);
    expect(formatPct(apy, 6)).toBe('4.500000');
    // A second more or less in the year is seen in the seventh decimal.
    expect(apy.minus(4.5).abs().lt('1e-9')).toBe(true);
  });

  test('behavior: 1e27 is no growth, below it shrinks', () => {
    expect(apyPctFromRayRate(10n ** 27n).isZero()).toBe(true);
    expect(apyPctFromRayRate(10n ** 27n - 10n ** 18n).isNegative()).toBe(true);
  });

  test('behavior: agrees with the continuous formula', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 20n * 10n ** 18n }), (growth) => {
        const continuous = Math.expm1(Number(growth) * 1e-27 * 31_536_000) * 100;
        expect(apyPctFromRayRate(10n ** 27n + growth).toNumber()).toBeCloseTo(continuous, 4);
      }),
      { numRuns: 200 },
    );
  });
});

describe('windowMeans', () => {
  test('default: the mean of the daily points in each window', () => {
    const means = windowMeans(
      series(95, (ago) => (ago < 30 ? '6' : ago < 60 ? '3' : '0')),
      NOW_MS,
    );
    expect(Object.entries(means).map(([days, mean]) => [days, formatPct(mean as Decimal)])).toEqual([
      ['avg30d', '6.00'],
      ['avg60d', '4.50'],
      ['avg90d', '3.00'],
    ]);
  });

  test.each([
    [87, false],
    [88, true],
    [90, true],
  ])('behavior: %i days of history cover 90 days: %s', (days, covered) => {
    expect(
      windowMean(
        series(days, () => '5'),
        NOW_MS,
        90,
      ) !== undefined,
    ).toBe(covered);
  });

  test('behavior: a young collateral has the short windows only', () => {
    expect(
      Object.keys(
        windowMeans(
          series(40, () => '5'),
          NOW_MS,
        ),
      ),
    ).toEqual(['avg30d']);
    expect(
      windowMeans(
        series(10, () => '5'),
        NOW_MS,
      ),
    ).toEqual({});
  });

  test('behavior: several points of one day count as one', () => {
    const today = Math.floor(NOW_MS / DAY) * DAY;
    const points = daily(60, () => '4');
    const extra = Array.from({ length: 11 }, (_, hour) => ({
      atMs: today + (hour + 1) * 3_600_000,
      ratePct: new Decimal(4),
    }));
    const spike = [...points.slice(0, -1), { atMs: today, ratePct: new Decimal(16) }, ...extra];
    const made = trailingOf(spike);
    expect(made && windowMean(made, NOW_MS, 30)?.toFixed(6)).toBe('4.033333');
  });

  test('behavior: the mean of a window does not depend on earlier calls', () => {
    const pct = (ago: number) => String((ago * 7) % 11);
    const requested = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 * 24 }), fc.constantFrom(30, 60, 90)), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(requested, (windows) => {
        const remaining = series(120, pct);
        for (const [hours, days] of windows) {
          const endMs = NOW_MS - hours * 3_600_000;
          const fresh = windowMean(series(120, pct), endMs, days)?.toFixed();
          expect(windowMean(remaining, endMs, days)?.toFixed()).toBe(fresh);
        }
      }),
    );
  });

  test('behavior: is between the extremes and equals the plain mean', () => {
    const values = fc.array(fc.integer({ min: -1_000, max: 100_000 }), { minLength: 95, maxLength: 120 });
    fc.assert(
      fc.property(values, fc.constantFrom(30, 60, 90), (hundredths, days) => {
        const made = series(hundredths.length, (ago) => String((hundredths[ago] ?? 0) / 100));
        const inside = hundredths.slice(0, days);
        const plain = new Decimal(inside.reduce((sum, value) => sum + value, 0)).div(100).div(days);
        expect(windowMean(made, NOW_MS, days)?.minus(plain).abs().lt('1e-40')).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe('stepAverage', () => {
  const steps = [
    { atMs: 0, aprPct: new Decimal(2) },
    { atMs: 50, aprPct: new Decimal(6) },
    { atMs: 80, aprPct: new Decimal(0) },
  ];

  test('default', () => {
    expect(stepAverage(steps, 0, 100).toFixed()).toBe('2.8');
  });

  test('behavior: zero before the first step, the last step continues', () => {
    expect(stepAverage(steps.slice(0, 2), -50, 100).toFixed(4)).toBe('2.6667');
    expect(stepAverage([], 0, 100).isZero()).toBe(true);
  });

  test('behavior: splitting the span changes nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: -40, max: 120 }), (split) => {
        const [from, to] = [-50, 130];
        const left = stepAverage(steps, from, split).times(split - from);
        const right = stepAverage(steps, split, to).times(to - split);
        expect(
          left
            .plus(right)
            .minus(stepAverage(steps, from, to).times(to - from))
            .abs()
            .lt('1e-40'),
        ).toBe(true);
      }),
    );
  });

  test('error: RangeError for an empty span', () => {
    expect(() => stepAverage(steps, 5, 5)).toThrow(RangeError);
  });
});

describe('historicalMeans', () => {
  const none = { steps: [], unknown: [] };

  test('default: the means of both sides, levered', () => {
    const means = historicalMeans({
      collateral: series(95, (ago) => (ago < 30 ? '8' : '6')),
      collateralIncentive: none,
      borrow: series(95, () => '5'),
      borrowIncentive: { steps: [{ atMs: NOW_MS - 15 * DAY, aprPct: new Decimal(2) }], unknown: [] },
      safeLeverage: new Decimal('10.5'),
      endMs: NOW_MS,
    });
    const shown = Object.entries(means.leverageApyPct).map(([days, mean]) => [days, formatPct(mean as Decimal)]);
    // 30 days: 8 * 10.5 − (5 − 1) * 9.5; 60: 7 * 10.5 − (5 − 0.5) * 9.5; 90: 6.67 * 10.5 − (5 − 0.33) * 9.5.
    expect(shown).toEqual([
      ['avg30d', '46.00'],
      ['avg60d', '30.75'],
      ['avg90d', '25.67'],
    ]);
  });

  test('behavior: absent if either side is too short; a collateral without yield counts as zero', () => {
    const input = {
      collateralIncentive: none,
      borrowIncentive: none,
      safeLeverage: new Decimal(2),
      endMs: NOW_MS,
    };
    const short = historicalMeans({ ...input, collateral: series(95, () => '8'), borrow: series(40, () => '5') });
    expect(Object.keys(short.leverageApyPct)).toEqual(['avg30d']);
    const perp = historicalMeans({ ...input, collateral: 'none', borrow: series(95, () => '5') });
    expect(perp.leverageApyPct.avg90d?.toFixed()).toBe('-5');
  });
});

describe('quarterlyBorrowApyPct', () => {
  test('default: mean of the last 90 days', () => {
    const made = trailingOf(daily(120, (ago) => (ago < 90 ? '4' : '99')));
    expect(made && quarterlyBorrowApyPct(made, NOW_MS)?.toFixed()).toBe('4');
    expect(trailingOf([])).toBeUndefined();
  });
});

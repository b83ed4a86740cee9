import { MarketUtils } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collateralValueInLoan, increaseFlashLoan, openFlashLoan } from '../../src/domain/leverage/flash-loan.ts';
import { ladderEntries, ladderRungs } from '../../src/domain/leverage/ladder.ts';
import {
  formatLeverage,
  leverageApyPct,
  leverageFromLtvPct,
  ltvPctFromLeverage,
} from '../../src/domain/leverage/leveraged-apy.ts';
import { ltvLimits, stockLtvCapPct } from '../../src/domain/leverage/limits.ts';
import { Decimal, formatPct } from '../../src/shared/decimal.ts';
import { manyRuns } from '../support/property-runs.ts';

const pct = (text: string) => new Decimal(text);
/** LTVs with two decimals, as limits have them. */
const anyLtv = fc.integer({ min: 0, max: 9_899 }).map((hundredths) => new Decimal(hundredths).shiftedBy(-2));
const anyRate = fc
  .tuple(
    fc.integer({ min: -5_000_000, max: 50_000_000 }),
    fc.integer({ min: 0, max: 12 }),
    // Values that nine decimals cannot tell from a half.
    fc.constantFrom(0, 1, -1).map((digit) => new Decimal(digit).shiftedBy(-40)),
  )
  .map(([digits, places, hair]) => new Decimal(digits).shiftedBy(-places).plus(hair));

describe('ltvLimits', () => {
  test('default', () => {
    const limits = ltvLimits(915_000_000_000_000_000n);
    expect([limits.liquidationLtvPct, limits.maxLtvPct, limits.safeLtvPct].map((l) => formatPct(l))).toEqual([
      '91.50',
      '91.25',
      '90.50',
    ]);
  });

  test('behavior: the stock leg is capped at 88 % of liquidation', () => {
    expect(formatPct(stockLtvCapPct(pct('62.5')))).toBe('55.00');
  });

  test('behavior: a liquidation LTV below the buffers gives zero, not a negative limit', () => {
    const limits = ltvLimits(2_000_000_000_000_000n);
    expect(limits.maxLtvPct.isZero() && limits.safeLtvPct.isZero()).toBe(true);
  });
});

describe('leverageFromLtvPct', () => {
  test.each([
    ['0', '1.0'],
    ['50', '2.0'],
    ['90.5', '10.5'],
    ['91.25', '11.4'],
    ['93.5', '15.4'],
    ['96.25', '26.7'],
  ])('default: %s %% is shown as %sx', (ltv, leverage) => {
    expect(formatLeverage(pct(ltv))).toBe(leverage);
  });

  test('behavior: inverse of ltvPctFromLeverage', () => {
    fc.assert(
      fc.property(anyLtv, (ltv) => ltvPctFromLeverage(leverageFromLtvPct(ltv)).minus(ltv).abs().lt('1e-50')),
      { numRuns: 1_000 },
    );
  });

  test.each(['-0.01', '100', '120', 'NaN'])('error: RangeError for %s', (ltv) => {
    expect(() => leverageFromLtvPct(pct(ltv))).toThrow(RangeError);
  });

  test('error: RangeError for a leverage below 1', () => {
    expect(() => ltvPctFromLeverage(pct('0.99'))).toThrow(RangeError);
  });
});

describe('leverageApyPct', () => {
  test('default', () => {
    expect(formatPct(leverageApyPct(pct('8'), pct('5'), pct('10.5')))).toBe('36.50');
  });

  test('behavior: an uncorrelated carry stays negative', () => {
    expect(formatPct(leverageApyPct(pct('0'), pct('4.2'), pct('2.6')))).toBe('-6.72');
  });
});

describe('shownLeverage', () => {
  test('behavior: the leverage at full precision, rounded half-up to one place', () => {
    const anyFineLtv = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 30n - 1n }), fc.constantFrom(0, 10, 20))
      .map(([digits, zeros]) => new Decimal(digits).shiftedBy(-28).decimalPlaces(28 - zeros));
    // Where the leverage stands just at a half of the last place, and a hair beside it.
    const atHalf = fc.tuple(fc.integer({ min: 10, max: 99_999 }), fc.constantFrom(0, 1, -1)).map(([tenths, hair]) => {
      const ltv = new Decimal(100).minus(new Decimal(1_000).div(new Decimal(tenths).plus(0.5)));
      return ltv.plus(new Decimal(hair).shiftedBy(-30));
    });
    fc.assert(
      fc.property(fc.oneof(anyFineLtv, atHalf), (ltvPct) => {
        fc.pre(ltvPct.gte(0) && ltvPct.lt(100));
        expect(formatLeverage(ltvPct)).toBe(formatPct(leverageFromLtvPct(ltvPct), 1));
      }),
      manyRuns(),
    );
  });
});

describe('ladderEntries', () => {
  test('default', () => {
    const ladder = ladderEntries(ladderRungs(pct('76.75')), pct('8'), pct('5'));
    expect(ladder).toEqual([
      { leverage: '1.0', ltvPct: '0.0', leverageApyPct: '8.00' },
      { leverage: '2.0', ltvPct: '50.0', leverageApyPct: '11.00' },
      { leverage: '3.0', ltvPct: '66.7', leverageApyPct: '14.00' },
      { leverage: '4.0', ltvPct: '75.0', leverageApyPct: '17.00' },
      { leverage: '4.3', ltvPct: '76.8', leverageApyPct: '17.90' },
    ]);
  });

  test('behavior: does not repeat the maximum after an equal last step', () => {
    expect(ladderRungs(pct('75')).map((rung) => rung.leverage)).toEqual(['1.0', '2.0', '3.0', '4.0']);
  });

  test('behavior: properties of every ladder', () => {
    fc.assert(
      fc.property(anyLtv, anyRate, anyRate, (maxLtvPct, collateralApyPct, netBorrowApyPct) => {
        const ladder = ladderEntries(ladderRungs(maxLtvPct), collateralApyPct, netBorrowApyPct);
        const max = formatLeverage(maxLtvPct);
        expect(ladder[0]?.leverage).toBe('1.0');
        expect(ladder[ladder.length - 1]?.leverage).toBe(max);
        expect(ladder).toHaveLength(Math.floor(Number(max)) + (Number.isInteger(Number(max)) ? 0 : 1));
        ladder.forEach((entry, index) => {
          if (index < Math.floor(Number(max))) expect(entry.leverage).toBe(`${index + 1}.0`);
          expect(Number(entry.ltvPct)).toBeLessThanOrEqual(Number(formatPct(maxLtvPct, 1)));
          const exact = leverageApyPct(collateralApyPct, netBorrowApyPct, new Decimal(entry.leverage));
          expect(entry.leverageApyPct).toBe(formatPct(exact));
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('openFlashLoan', () => {
  test('default', () => {
    expect(openFlashLoan(1_000_000n, pct('90'))).toBe(9_000_000n);
    expect(openFlashLoan(1_000_001n, pct('90.5'))).toBe(9_526_325n);
  });

  test('behavior: the LTV is at most the target, and one more unit would exceed it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), anyLtv, (value, target) => {
        const loan = openFlashLoan(value, target);
        const t = BigInt(target.shiftedBy(2).toFixed(0));
        expect(loan * 10_000n <= t * (value + loan)).toBe(true);
        expect((loan + 1n) * 10_000n > t * (value + loan + 1n)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('error: RangeError at 100 %', () => {
    expect(() => openFlashLoan(1n, pct('100'))).toThrow(RangeError);
  });
});

describe('increaseFlashLoan', () => {
  test('default', () => {
    const loan = increaseFlashLoan({ collateralValue: 5_000_000n, debt: 4_000_000n, targetLtvPct: pct('90') });
    expect(loan).toBe(5_000_000n);
  });

  test('behavior: zero at or above the target', () => {
    expect(increaseFlashLoan({ collateralValue: 100n, debt: 90n, targetLtvPct: pct('90') })).toBe(0n);
    expect(increaseFlashLoan({ collateralValue: 100n, debt: 95n, targetLtvPct: pct('90') })).toBe(0n);
  });

  test('behavior: reaches the target from any position below it', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 28n });
    fc.assert(
      fc.property(amount, amount, anyLtv, (collateralValue, debt, target) => {
        const loan = increaseFlashLoan({ collateralValue, debt, targetLtvPct: target });
        const t = BigInt(target.shiftedBy(2).toFixed(0));
        if (loan > 0n) expect((debt + loan) * 10_000n <= t * (collateralValue + loan)).toBe(true);
        expect((debt + loan + 1n) * 10_000n > t * (collateralValue + loan + 1n)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('collateralValueInLoan', () => {
  test('default: rounds down, as the SDK does', () => {
    const price = 1_073_333_333_333_333_333_333_333n;
    expect(collateralValueInLoan(10n ** 18n, price)).toBe((10n ** 18n * price) / 10n ** 36n);
    expect(collateralValueInLoan(10n ** 18n, price)).toBe(MarketUtils.getCollateralValue(10n ** 18n, { price }));
  });
});

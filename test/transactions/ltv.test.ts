import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { LimitExceededError } from '../../src/transactions/errors.ts';
import { leastCollateral, ltvPctOf, mostDebt } from '../../src/transactions/preview/ltv.ts';
import { withinMaxLtv } from '../../src/transactions/preview/position.ts';
import type { PlannedSwap } from '../../src/transactions/types.ts';

/** One loan token per collateral token. */
const PRICE = 10n ** 36n;
const LIMIT = new Decimal('91.25');

describe('leastCollateral and mostDebt', () => {
  test('behavior: both round against the position', () => {
    // 9 / 0.9125 = 9.86…, 10 × 0.9125 = 9.125.
    expect(leastCollateral(9n, PRICE, LIMIT)).toBe(10n);
    expect(mostDebt(10n, PRICE, LIMIT)).toBe(9n);
    expect(leastCollateral(9_125n, PRICE, LIMIT)).toBe(10_000n);
    expect(mostDebt(10_000n, PRICE, LIMIT)).toBe(9_125n);
  });

  test('behavior: the value of the collateral is rounded down before', () => {
    const [below] = [PRICE - 1n];
    expect(mostDebt(10_000n, below, LIMIT)).toBe(9_124n);
    expect(leastCollateral(9_125n, below, LIMIT)).toBe(10_001n);
    expect(ltvPctOf({ collateral: 10_000n, debt: 9_999n }, below)?.toFixed()).toBe('100');
  });
});

describe('withinMaxLtv', () => {
  const position = {
    collateral: 4_000n,
    debt: 9_125n,
    price: PRICE,
    maxLtvPct: LIMIT,
    slippage: { value: new Decimal('0.005') } as Parameters<typeof withinMaxLtv>[1]['slippage'],
    requested: { field: 'leverage', value: '5' },
  };
  const swapOf = (expectedOut: bigint) =>
    ({ expectedOut, minOut: 0n, quote: { amountOut: expectedOut } }) as unknown as PlannedSwap;

  test('default: the minimum of the slippage where that is within the limit', () => {
    expect(withinMaxLtv(swapOf(7_000n), position).minOut).toBe(6_965n);
  });

  test('behavior: a fill that ends exactly at the limit is its own minimum, one unit less is refused', () => {
    expect(withinMaxLtv(swapOf(6_000n), position).minOut).toBe(6_000n);
    expect(() => withinMaxLtv(swapOf(5_999n), position)).toThrow(LimitExceededError);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closingOf } from '../../../src/domain/position/closing.ts';

const FIVE_PERCENT = 5n * 10n ** 16n;
const WAD = 10n ** 18n;

describe('closingOf', () => {
  test.each([
    ['a gain', { collateralValue: 1_000n, debt: 700n }, 200n, [5n, 295n, 100n, 95n]],
    ['one unit of gain, of which the fee is nothing', { collateralValue: 901n, debt: 700n }, 200n, [0n, 201n, 1n, 1n]],
    ['as much as was put in', { collateralValue: 900n, debt: 700n }, 200n, [0n, 200n, 0n, 0n]],
    ['a loss', { collateralValue: 800n, debt: 700n }, 200n, [0n, 100n, -100n, -100n]],
    ['a basis of 0', { collateralValue: 1_000n, debt: 700n }, 0n, [15n, 285n, 300n, 285n]],
    ['a debt of 0', { collateralValue: 1_000n, debt: 0n }, 200n, [40n, 960n, 800n, 760n]],
    ['under water', { collateralValue: 600n, debt: 700n }, 200n, [0n, 0n, -200n, -200n]],
    ['nothing at all', { collateralValue: 0n, debt: 0n }, 0n, [0n, 0n, 0n, 0n]],
  ] as const)('behavior: %s', (_what, value, basis, [yieldFee, paysOut, pnlBeforeFee, pnlAfterFee]) => {
    expect(closingOf(value, basis, FIVE_PERCENT)).toEqual({ yieldFee, paysOut, pnlBeforeFee, pnlAfterFee });
  });

  test('behavior: fee and payout together equal the value after the debt', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });
    const share = fc.bigInt({ min: 0n, max: WAD - 1n });
    fc.assert(
      fc.property(amount, amount, amount, share, (collateralValue, debt, basis, yieldFee) => {
        const closing = closingOf({ collateralValue, debt }, basis, yieldFee);
        const returned = collateralValue > debt ? collateralValue - debt : 0n;
        expect(closing.yieldFee + closing.paysOut).toBe(returned);
        expect(closing.yieldFee >= 0n && closing.paysOut >= 0n).toBe(true);
        expect(closing.pnlBeforeFee - closing.yieldFee).toBe(closing.pnlAfterFee);
        if (returned <= basis) expect(closing.yieldFee).toBe(0n);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { depositFeeOf } from '../../src/domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../src/domain/leverage/flash-loan.ts';
import { limitsOf } from '../../src/domain/market/statics.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import {
  correctedSale,
  type DeleverageInput,
  type DeleverageSizes,
  deleverageSizes,
  excessDebt,
} from '../../src/transactions/deleverage/size.ts';
import { loanInCollateral } from '../../src/transactions/preview/ltv.ts';
import type { PositionState } from '../../src/transactions/types.ts';
import { whole } from './model/scene.ts';
import { collateral, d, market, PRICE } from './susde-position.ts';
import { place, priceFor, RUNS } from './world.ts';

/** Any position, target and fee. */
const scene = place.chain(({ market: any }) =>
  fc
    .record({
      price: priceFor(any),
      tokens: fc.bigInt(1n, 10n ** 7n),
      ltvMilli: fc.bigInt(1n, 120_000n),
      targetMilli: fc.integer({ min: 1, max: limitsOf(any).maxLtvPct.times(1_000).toNumber() }),
      depositFee: fc.constantFrom(0n, 10n ** 16n),
    })
    .map(({ price, tokens, ltvMilli, targetMilli, depositFee }) => {
      const held = tokens * 10n ** BigInt(any.collateral.decimals);
      const debt = (collateralValueInLoan(held, price) * ltvMilli) / 100_000n;
      const position: PositionState = { collateral: held, debt };
      return { market: any, position, price, targetLtvPct: d(targetMilli).shiftedBy(-3), depositFee };
    }),
);

/**
 * Collateral by which rounding may enlarge a sale: the debt above the target is rounded up to a unit of the loan token, which may
 * be 1e16 units of collateral, and each unit of debt takes a sale of 1 / (1 - target - fee).
 */
function saleRounding({ targetLtvPct, depositFee, price }: DeleverageInput): bigint {
  const relief = d(100).minus(targetLtvPct).shiftedBy(16).minus(String(depositFee));
  const units = d(2).shiftedBy(18).div(relief).decimalPlaces(0, Decimal.ROUND_UP);
  return loanInCollateral(BigInt(units.toFixed()), price) + 2n;
}

const net = (sent: bigint, fee: bigint) => sent - depositFeeOf(sent, fee);

describe('deleverageSizes', () => {
  test('property: each way ends at or below the target, and a unit less of collateral would not', () => {
    fc.assert(
      fc.property(scene, (input) => {
        const { position, depositFee, price } = input;
        const sizes = deleverageSizes(input);
        expect(sizes === undefined).toBe(excessDebt(input) <= 0n);
        if (!sizes) return;
        const excessOf = (state: PositionState) => excessDebt({ ...input, position: state });
        const repaid = { ...position, debt: position.debt - net(sizes.repay, depositFee) };
        expect(excessOf(repaid)).toBeLessThanOrEqual(0n);
        expect(excessOf(repaid)).toBeGreaterThanOrEqual(-1n);
        const added = (sent: bigint) => ({ ...position, collateral: position.collateral + net(sent, depositFee) });
        const enough = sizes.addCollateral ?? 0n;
        expect(excessOf(added(enough))).toBeLessThanOrEqual(0n);
        expect(excessOf(added(enough - 2n))).toBeGreaterThanOrEqual(0n);
        if (sizes.sell === undefined) return;
        const proceeds = collateralValueInLoan(sizes.sell, price);
        const sold = { collateral: position.collateral - sizes.sell, debt: position.debt - net(proceeds, depositFee) };
        expect(excessOf(sold)).toBeLessThanOrEqual(2n);
      }),
      RUNS,
    );
  });

  test('property: a lower target takes no less of anything', () => {
    fc.assert(
      fc.property(scene, fc.integer({ min: 1, max: 1_000 }), (input, share) => {
        const high = deleverageSizes(input);
        const low = deleverageSizes({
          ...input,
          targetLtvPct: input.targetLtvPct.times(share).div(1_000).decimalPlaces(10),
        });
        if (!high || !low) return;
        expect(low.repay).toBeGreaterThanOrEqual(high.repay);
        expect(low.addCollateral).toBeGreaterThanOrEqual(high.addCollateral ?? 0n);
        if (low.sell === undefined || high.sell === undefined) return;
        expect(low.sell).toBeGreaterThanOrEqual(high.sell - saleRounding(input));
      }),
      RUNS,
    );
  });

  test('behavior: at its liquidation LTV no part is named', () => {
    const at = (debt: bigint) =>
      deleverageSizes({
        market,
        price: PRICE,
        depositFee: 0n,
        targetLtvPct: d(80),
        position: { collateral: whole(100, collateral), debt },
      }) as DeleverageSizes;
    // 100 at 1.07 and 91.5 % carry 97.905.
    expect([at(97_905_000n).sell, at(97_000_000n).sell === undefined]).toEqual([undefined, false]);
  });
});

describe('correctedSale', () => {
  test('behavior: exceeds the correction a little, and is none where a sale does not help', () => {
    expect(correctedSale(100n, { sold: 1_000n, excess: 50n })).toBe(2_021n);
    expect(correctedSale(100n, { sold: 1_000n, excess: 100n })).toBeUndefined();
    expect(correctedSale(100n, { sold: 1_000n, excess: 120n })).toBeUndefined();
  });
});

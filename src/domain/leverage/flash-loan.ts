import { MarketUtils } from '@morpho-org/blue-sdk';
import { type Decimal, HUNDRED, ZERO } from '../../shared/decimal.ts';

/** Value collateral base units in loan base units at an oracle price scaled by 1e36, rounded down. */
export function collateralValueInLoan(collateral: bigint, price: bigint): bigint {
  return MarketUtils.getCollateralValue(collateral, { price }) ?? 0n;
}

/**
 * Size the flash loan that opens a position at `targetLtvPct` on collateral worth `collateralValue` loan base units:
 * `V / (1 − t) − V`, rounded down.
 * @throws RangeError when the target is not in 0 ≤ LTV < 100.
 */
export function openFlashLoan(collateralValue: bigint, targetLtvPct: Decimal): bigint {
  return increaseFlashLoan({ collateralValue, debt: 0n, targetLtvPct });
}

/**
 * Size the flash loan that brings a position with this collateral value and debt (loan base units) to `targetLtvPct`:
 * `(t * V − D) / (1 − t)`, rounded down. 0 = the position is at or above the target already, there is nothing to do.
 * @throws RangeError when the target is not in 0 ≤ LTV < 100.
 */
export function increaseFlashLoan(input: {
  readonly collateralValue: bigint;
  readonly debt: bigint;
  readonly targetLtvPct: Decimal;
}): bigint {
  const { collateralValue, debt, targetLtvPct } = input;
  if (!targetLtvPct.gte(ZERO) || !targetLtvPct.lt(HUNDRED)) {
    throw new RangeError(`Target LTV ${targetLtvPct.toFixed()} % cannot be reached; it must lie in 0 ≤ LTV < 100.`);
  }
  const places = targetLtvPct.decimalPlaces() ?? 0;
  const whole = 100n * 10n ** BigInt(places);
  const target = BigInt(targetLtvPct.shiftedBy(places).toFixed(0));
  const numerator = target * collateralValue - debt * whole;
  return numerator <= 0n ? 0n : numerator / (whole - target);
}

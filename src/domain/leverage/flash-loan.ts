import { MarketUtils } from '@morpho-org/blue-sdk';
import { type Decimal, HUNDRED, ZERO } from '../../shared/decimal.ts';

/** Value collateral base units in loan base units at an oracle price scaled by 1e36, rounded down. */
export function collateralValueInLoan(collateral: bigint, price: bigint): bigint {
  return MarketUtils.getCollateralValue(collateral, { price }) ?? 0n;
}

/** Share of its value that a swap returns, as a fraction of integers. */
export interface Returned {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A swap without loss. */
const NO_LOSS: Returned = { numerator: 1n, denominator: 1n };

/** The share of its value that a swap of `amount` loan base units into `collateralOut` base units returns, at most 1. */
export function returnedShare(amount: bigint, collateralOut: bigint, price: bigint): Returned {
  const value = collateralValueInLoan(collateralOut, price);
  return value >= amount ? NO_LOSS : { numerator: value, denominator: amount };
}

/**
 * Size the flash loan that opens a position at `targetLtvPct` on collateral worth `collateralValue` loan base units, when its
 * swap returns the share `returned`: `t·V / (1 − t·q)`, rounded down.
 * @throws RangeError when the target is not in 0 ≤ LTV < 100.
 */
export function openFlashLoan(collateralValue: bigint, targetLtvPct: Decimal, returned: Returned = NO_LOSS): bigint {
  return increaseFlashLoan({ collateralValue, debt: 0n, targetLtvPct, returned });
}

/**
 * Size the flash loan that brings a position with this collateral value and debt (loan base units) to `targetLtvPct`: `(t·V −
 * D) / (1 − t·q)`, rounded down. 0 = the position is at or above the target already.
 * @throws RangeError when the target is not in 0 ≤ LTV < 100.
 */
export function increaseFlashLoan(input: {
  readonly collateralValue: bigint;
  readonly debt: bigint;
  readonly targetLtvPct: Decimal;
  /** Share of its value that the swap of the loan returns; default 1. */
  readonly returned?: Returned | undefined;
}): bigint {
  const { collateralValue, debt, targetLtvPct, returned = NO_LOSS } = input;
  if (!targetLtvPct.gte(ZERO) || !targetLtvPct.lt(HUNDRED)) {
    throw new RangeError(`Target LTV ${targetLtvPct.toFixed()} % is not reachable; it must be in 0 ≤ LTV < 100.`);
  }
  const places = targetLtvPct.decimalPlaces() ?? 0;
  const whole = 100n * 10n ** BigInt(places);
  const target = BigInt(targetLtvPct.shiftedBy(places).toFixed(0));
  const missing = target * collateralValue - debt * whole;
  const { numerator, denominator } = returned;
  return missing <= 0n ? 0n : (missing * denominator) / (whole * denominator - target * numerator);
}

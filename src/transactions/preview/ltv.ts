import { MathLib, ORACLE_PRICE_SCALE } from '@morpho-org/blue-sdk';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, HUNDRED, ZERO } from '../../shared/decimal.ts';
import type { PositionState } from '../types.ts';

/** LTV of a position in percent at an oracle price, exact. Without collateral and with debt it has none: `undefined`. */
export function ltvPctOf({ collateral, debt }: PositionState, price: bigint): Decimal | undefined {
  if (debt === 0n) return ZERO;
  const value = collateralValueInLoan(collateral, price);
  return value === 0n ? undefined : new Decimal(debt.toString()).times(HUNDRED).div(value.toString());
}

/**
 * Find the least collateral with which `debt` stays at or below an LTV limit, as the contracts round: against the position,
 * and with the collateral's value rounded down.
 */
export function leastCollateral(debt: bigint, price: bigint, limitPct: Decimal): bigint {
  return MathLib.mulDivUp(MathLib.wDivUp(debt, wadOf(limitPct)), ORACLE_PRICE_SCALE, price);
}

/** Find the most debt that `collateral` carries at or below an LTV limit. */
export function mostDebt(collateral: bigint, price: bigint, limitPct: Decimal): bigint {
  return MathLib.wMulDown(collateralValueInLoan(collateral, price), wadOf(limitPct));
}

/** Convert loan base units into collateral base units at an oracle price, rounded down. */
export function loanInCollateral(amount: bigint, price: bigint): bigint {
  return MathLib.mulDivDown(amount, ORACLE_PRICE_SCALE, price);
}

function wadOf(pct: Decimal): bigint {
  return BigInt(pct.shiftedBy(16).integerValue(Decimal.ROUND_DOWN).toFixed(0));
}

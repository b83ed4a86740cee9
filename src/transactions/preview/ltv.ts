import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, HUNDRED, ZERO } from '../../shared/decimal.ts';
import type { PositionState } from '../types.ts';

const WAD = 10n ** 18n;
const ORACLE_SCALE = 10n ** 36n;

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
  const limit = BigInt(limitPct.shiftedBy(16).integerValue(Decimal.ROUND_DOWN).toFixed(0));
  return divideUp(divideUp(debt * WAD, limit) * ORACLE_SCALE, price);
}

/** Find the most debt that `collateral` carries at or below an LTV limit. */
export function mostDebt(collateral: bigint, price: bigint, limitPct: Decimal): bigint {
  const limit = BigInt(limitPct.shiftedBy(16).integerValue(Decimal.ROUND_DOWN).toFixed(0));
  return (collateralValueInLoan(collateral, price) * limit) / WAD;
}

/** Convert loan base units into collateral base units at an oracle price, rounded down. */
export function loanInCollateral(amount: bigint, price: bigint): bigint {
  return (amount * ORACLE_SCALE) / price;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

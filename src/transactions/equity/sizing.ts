import { collateralValueInLoan, openFlashLoan, type Returned } from '../../domain/leverage/flash-loan.ts';
import type { LtvLimits } from '../../domain/leverage/limits.ts';
import { Decimal } from '../../shared/decimal.ts';

/** Oracle prices of both markets of a vault: loan base units per collateral base unit, scaled by 1e36. */
export interface VaultPrices {
  readonly stock: bigint;
  readonly yield: bigint;
}

/** Size the borrow on the least stock that the swap may give, `minStock × price × ltv`, rounded down: deposit token base units. */
export function sizeStockBorrow(minStock: bigint, stockPrice: bigint, stockLtvPct: Decimal): bigint {
  const value = new Decimal(collateralValueInLoan(minStock, stockPrice).toString());
  return BigInt(value.times(stockLtvPct).shiftedBy(-2).integerValue(Decimal.ROUND_DOWN).toFixed(0));
}

/**
 * Size the yield leg's flash loan on the least collateral that the zap may give and on what its own swap returns, to the
 * yield market's safe LTV, as its contract has it.
 */
export function sizeFlashLoan(
  { safeLtvPct }: LtvLimits,
  minCollateral: bigint,
  yieldPrice: bigint,
  returned?: Returned,
): bigint {
  const value = collateralValueInLoan(minCollateral, yieldPrice);
  return openFlashLoan(value, safeLtvPct, returned);
}

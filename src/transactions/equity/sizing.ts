import type { EquityVault } from '../../catalog/types.ts';
import { collateralValueInLoan, openFlashLoan } from '../../domain/leverage/flash-loan.ts';
import { ltvLimits } from '../../domain/leverage/limits.ts';
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

/** Size the yield leg's flash loan on the least collateral that the zap may give, to the yield market's safe LTV. */
export function sizeFlashLoan(vault: EquityVault, minCollateral: bigint, yieldPrice: bigint): bigint {
  const value = collateralValueInLoan(minCollateral, yieldPrice);
  return openFlashLoan(value, ltvLimits(vault.yieldMarket.lltv).safeLtvPct);
}

/**
 * The least that the flash loan's swap must give so that the yield leg ends within the contracts' LTV limit even when the
 * zap gave its least. Stricter than a slippage of 1 % near the safe LTV.
 */
export function leastLeveragedCollateral(input: {
  readonly vault: EquityVault;
  readonly minCollateral: bigint;
  readonly amountFlashLoan: bigint;
  readonly yieldPrice: bigint;
}): bigint {
  const { vault, minCollateral, amountFlashLoan, yieldPrice } = input;
  const max = ltvLimits(vault.yieldMarket.lltv).maxLtvPct.shiftedBy(-2);
  const value = new Decimal(amountFlashLoan.toString()).div(max);
  // Two base units of value more than needed: the protocol rounds the value down and the LTV up.
  const collateral = value.plus(2).shiftedBy(36).div(yieldPrice.toString());
  const needed = BigInt(collateral.integerValue(Decimal.ROUND_CEIL).toFixed(0)) - minCollateral;
  return needed > 0n ? needed : 0n;
}

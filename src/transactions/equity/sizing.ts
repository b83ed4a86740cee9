import type { EquityVault } from '../../catalog/types.ts';
import { collateralValueInLoan, openFlashLoan, type Returned } from '../../domain/leverage/flash-loan.ts';
import { type LtvLimits, stockLtvCapPct } from '../../domain/leverage/limits.ts';
import { limitsOf } from '../../domain/market/statics.ts';
import { Decimal, formatPct, ZERO } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { formatValue } from '../../shared/ids.ts';
import { LimitExceededError } from '../errors.ts';

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
 * Size the yield leg's flash loan on the least collateral that the zap may give and on the output of its own swap, to the
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

/** The highest stock-leg LTV of a vault in percent: 88 % of its stock market's liquidation LTV. */
export function stockCapPct(vault: EquityVault): Decimal {
  return stockLtvCapPct(limitsOf(vault.stockMarket).liquidationLtvPct);
}

/**
 * Take the stock-leg LTV in percent: the vault's target when left out. One above the cap is refused, never lowered; a
 * target above it counts as the cap, as the strategies list shows it.
 * @throws BadRequestError at or below zero; LimitExceededError above the cap
 */
export function resolveStockLtvPct(vault: EquityVault, requested: Decimal | undefined, field = 'stockLtvPct'): Decimal {
  const cap = stockCapPct(vault);
  if (requested === undefined) return Decimal.min(vault.targetLtvPct, cap);
  const value = formatValue(requested.toFixed());
  if (!requested.gt(ZERO)) {
    throw new BadRequestError(
      `${field} must be above 0: nothing is borrowed for the yield leg otherwise. Leave it out for ${formatPct(Decimal.min(vault.targetLtvPct, cap))} %.`,
      { field, value, limit: { above: '0', max: formatPct(cap) } },
    );
  }
  if (requested.gt(cap)) {
    throw new LimitExceededError(
      `${field} ${value} is above the cap of this vault: at most ${formatPct(cap)} %, that is 88 % of the liquidation LTV. Send ${formatPct(cap)} or less.`,
      { field, value, limit: { maxStockLtvPct: formatPct(cap) } },
    );
  }
  return requested;
}

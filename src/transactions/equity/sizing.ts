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

/** Below the LTV at which the whole slippage fits, percentage points: the units of a small deposit are rounded. */
const ROUNDING_POINTS = new Decimal('0.001');

/**
 * The LTV that the yield leg is sized to, percent: the market's safe LTV, or less where the loan's swap, losing all of the
 * slippage `s`, would end above the max LTV. A swap that returns its whole value takes an expected LTV `t` to `t / (1 − t·s)` then.
 */
export function yieldTargetLtvPct({ safeLtvPct, maxLtvPct }: LtvLimits, slippage: Decimal): Decimal {
  const fitting = maxLtvPct.div(maxLtvPct.shiftedBy(-2).times(slippage).plus(1)).minus(ROUNDING_POINTS);
  return Decimal.min(safeLtvPct, fitting.decimalPlaces(3, Decimal.ROUND_DOWN));
}

/**
 * Size the yield leg's flash loan to an LTV, percent, on the least collateral that the zap may give and on the output of its own
 * swap.
 */
export function sizeFlashLoan(
  targetLtvPct: Decimal,
  minCollateral: bigint,
  yieldPrice: bigint,
  returned?: Returned,
): bigint {
  return openFlashLoan(collateralValueInLoan(minCollateral, yieldPrice), targetLtvPct, returned);
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

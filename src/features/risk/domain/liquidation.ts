import { MarketUtils, MathLib, ORACLE_PRICE_SCALE } from '@morpho-org/blue-sdk';
import { collateralValueInLoan } from '../../../domain/leverage/flash-loan.ts';
import { valueLtvPct } from '../../../domain/position/valuation.ts';
import { type Decimal, HUNDRED } from '../../../shared/decimal.ts';
import type { StressHolding } from './types.ts';

type Debt = Pick<StressHolding, 'collateral' | 'debt' | 'market'>;

/** Whether the protocol would let anybody liquidate a holding at an oracle price, rounded as the protocol rounds. */
export function canBeLiquidated({ collateral, debt, market }: Debt, price: bigint): boolean {
  return (MarketUtils.getMaxBorrowAssets(collateral, { price }, market) ?? 0n) < debt;
}

/**
 * The lowest oracle price, scaled by 1e36, at which a holding cannot be liquidated: one unit below, it can. `null` = it
 * owes nothing, or has no collateral.
 */
export function lowestHealthyPrice({ collateral, debt, market }: Debt): bigint | null {
  if (debt === 0n || collateral === 0n) return null;
  // The protocol rounds the value and the allowed debt down; both are undone exactly.
  return MathLib.mulDivUp(MathLib.wDivUp(debt, market.lltv), ORACLE_PRICE_SCALE, collateral);
}

/** How far the oracle's price may fall until a holding can be liquidated, percent; negative = it can be now. `null` = no debt. */
export function dropToLiquidationPct({ collateral, debt, price, limits }: StressHolding): Decimal | null {
  const ltvPct = valueLtvPct(debt, collateralValueInLoan(collateral, price));
  if (ltvPct === null || debt === 0n) return null;
  return HUNDRED.minus(ltvPct.times(HUNDRED).div(limits.liquidationLtvPct));
}

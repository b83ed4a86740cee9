import type { Market } from '../../catalog/types.ts';
import { wholePrice } from '../../domain/position/valuation.ts';
import { Decimal, fromUnits, HUNDRED, ZERO } from '../../shared/decimal.ts';
import type { PositionState } from '../types.ts';
import type { Cost } from './costs.ts';

export interface Liquidation {
  /** Loan tokens per collateral token at which the position can be liquidated. */
  readonly price: Decimal;
  /** How far the oracle's price is above it, percent. */
  readonly dropPct: Decimal;
}

/** Find the price at which a position can be liquidated; `undefined` without debt. */
export function liquidationOf(
  market: Market,
  { collateral, debt }: PositionState,
  price: bigint,
): Liquidation | undefined {
  if (debt === 0n || collateral === 0n) return undefined;
  const lltv = new Decimal(market.lltv.toString()).shiftedBy(-18);
  const at = fromUnits(debt, market.loan.decimals).div(fromUnits(collateral, market.collateral.decimals)).div(lltv);
  const now = wholePrice(price, market);
  return { price: at, dropPct: now.minus(at).times(HUNDRED).div(now) };
}

/** Sum costs in USD; `undefined` when one of them has no price. */
export function totalUsd(costs: readonly Cost[]): Decimal | undefined {
  let sum = ZERO;
  for (const { usd } of costs) {
    if (!usd) return undefined;
    sum = sum.plus(usd);
  }
  return sum;
}

/** When the yield of the equity has earned the costs. `NEVER` is a known answer, `UNKNOWN` is not. */
export type BreakEven =
  | { readonly state: 'DAYS'; readonly days: Decimal }
  | { readonly state: 'NEVER' | 'UNKNOWN'; readonly days?: undefined };

/** Count the days until the yield of the equity has earned the costs; `undefined` inputs are unknown. */
export function breakEvenOf(
  costUsd: Decimal | undefined,
  equityUsd: Decimal | undefined,
  apyPct: Decimal | undefined,
): BreakEven {
  if (!costUsd || !equityUsd || !apyPct) return { state: 'UNKNOWN' };
  if (!costUsd.gt(0)) return { state: 'DAYS', days: ZERO };
  const perDay = equityUsd.times(apyPct).div(HUNDRED).div(365);
  return perDay.gt(0) ? { state: 'DAYS', days: costUsd.div(perDay) } : { state: 'NEVER' };
}

import { MathLib } from '@morpho-org/blue-sdk';
import { borrowApyPctFromRate } from '../../domain/apy/rates.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { LiveMarket } from '../read/market-state.ts';

export interface BeforeAfter {
  readonly before: Decimal;
  readonly after: Decimal;
}

/**
 * Compute the market's borrow APY in percent before and after the action, with the protocol's SDK: a borrow raises the
 * utilization; a repayment (a negative `debtChange`) and liquidity that is moved in lower it.
 */
export function borrowApyChange(live: LiveMarket, debtChange: bigint, moved = 0n): BeforeAfter {
  const { sdk } = live;
  // At the state's own time: the SDK's default is this machine's clock, which a chain's may be ahead of.
  const rateOf = (market: typeof sdk) => borrowApyPctFromRate(market.getEndBorrowRate(market.lastUpdate));
  return { before: rateOf(sdk), after: rateOf(marketAfter(live, debtChange, moved)) };
}

/** The market after an action: a change of the debt (negative = repays), and liquidity that is moved in, loan base units. */
export function marketAfter({ sdk }: LiveMarket, debtChange: bigint, moved = 0n): LiveMarket['sdk'] {
  const deep = moved > 0n ? sdk.supply(moved, 0n, sdk.lastUpdate).market : sdk;
  // A debt is rounded up: the last one of a market may be one unit more than the market's own total.
  const repaid = debtChange < 0n ? MathLib.min(-debtChange, deep.totalBorrowAssets) : 0n;
  const relieved = repaid > 0n ? deep.repay(repaid, 0n, sdk.lastUpdate).market : deep;
  return debtChange > 0n ? relieved.borrow(debtChange, 0n, sdk.lastUpdate).market : relieved;
}

/** Yield and cost of a position on a market, percent a year. */
export interface MarketRates {
  /** With the collateral's incentive. */
  readonly collateralApyPct: Decimal;
  /** The borrow incentive as it is paid now: its dilution by more debt is unknown. */
  readonly incentiveAprPct: Decimal;
  /** Borrow APY of the market now, and once the position owes `debt` loan base units. */
  borrowApyPct(debt: bigint): BeforeAfter;
}

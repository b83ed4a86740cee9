import type { Gap } from '../../../domain/freshness/types.ts';
import type { ComposedChain, ComposedMarket } from '../../../domain/market/types.ts';
import type { MarketId } from '../../../shared/ids.ts';
import { isFresh, type StaleGroup, staleGroupsOfMarket } from './stale.ts';
import type { LeastValue } from './types.ts';

export const UNKNOWN: LeastValue = { least: null, complete: false };

/** The values that all positions on a market share. */
export interface MarketState {
  /** Groups of the market that are past their budget, missing or assumed. */
  readonly staleGroups: readonly StaleGroup[];
  readonly liquidityUsd: LeastValue;
  /** Whether the inputs of an APY on this market are known and within their budgets. */
  readonly isApyKnown: boolean;
}

/** Fields whose gap means that an APY is computed with an assumed input. */
const APY_INPUTS: ReadonlySet<string> = new Set([
  'collateralApyPct',
  'totalCollateralApyPct',
  'effectiveCollateralApyPct',
  'borrowApyPct',
  'netBorrowApyPct',
  'fees.yieldFeePct',
  'yieldLegApyPct',
  'defaultLeverage',
  'leverageLadder',
  'leverageApyPct',
]);

/** Find the state of a market at `nowMs`, computed once for all positions on it. */
export function createMarketStates(
  { lookup }: Pick<ComposedChain, 'lookup'>,
  nowMs: number,
): (marketId: MarketId) => MarketState {
  const states = new Map<MarketId, MarketState>();
  return (marketId) => {
    const known = states.get(marketId);
    if (known !== undefined) return known;
    const state = stateOf(lookup.markets.get(marketId), nowMs);
    states.set(marketId, state);
    return state;
  };
}

function stateOf(market: ComposedMarket | undefined, nowMs: number): MarketState {
  const staleGroups = staleGroupsOfMarket(market, nowMs);
  if (market === undefined) return { staleGroups, liquidityUsd: UNKNOWN, isApyKnown: false };
  const { liquidityUsd, stamps, gaps } = market;
  const isLiquidityKnown = isFresh(stamps.borrow, nowMs) && isFresh(stamps.prices, nowMs);
  return {
    staleGroups,
    liquidityUsd: liquidityUsd === undefined || !isLiquidityKnown ? UNKNOWN : { least: liquidityUsd, complete: true },
    isApyKnown: isFresh(stamps.incentives, nowMs) && !hasApyGap(gaps),
  };
}

/** Whether an input of the APY is unknown. @param own inputs that this APY has beside those of every one */
export function hasApyGap(gaps: readonly Gap[], ...own: readonly string[]): boolean {
  const isInput = (field: string) => APY_INPUTS.has(field) || own.includes(field);
  return gaps.some(({ field, reason }) => isInput(field) && reason !== 'NONE' && reason !== 'NOT_APPLICABLE');
}

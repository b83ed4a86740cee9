import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';

const NO_CURATOR = gap('curator', 'NOT_APPLICABLE', "The market is the service's own, not a partner's.");
const NO_YIELD = gap('measuredCollateralApy', 'NOT_APPLICABLE', 'The collateral earns nothing by itself.');

/** Give the reasons of a market's empty fields. */
export function marketGaps({ market, facts, gaps }: ComposedMarket): readonly Gap[] {
  const unshared = facts.sharedLiquidity
    ? undefined
    : gaps.find(({ field }) => field === 'publicAllocatorLiquidityUsd');
  return [
    ...gaps,
    ...(market.curator === undefined ? [NO_CURATOR] : []),
    ...(facts.collateralApy ? [] : [NO_YIELD]),
    ...(unshared ? [{ ...unshared, field: 'sharedLiquidity' }] : []),
  ];
}

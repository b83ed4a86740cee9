import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { renamedGaps } from '../common/gap-names.ts';

/** Fields of a market that the domain names otherwise than the schema. */
const NAMES: Readonly<Record<string, string>> = {
  'collateral.priceUsd': 'collateralPrice',
  'loan.priceUsd': 'loanPrice',
  inputFreshness: 'freshness',
  yieldSustainabilityPct: 'means.collateralApy',
  historicalLeverageApyPct: 'means.leverageApy',
  maxLtvPct: 'ltvLimits.maxPct',
  safeLtvPct: 'ltvLimits.safePct',
};

const NO_CURATOR = gap('curator', 'NOT_APPLICABLE', "The market is the service's own, not a partner's.");
const NO_YIELD = gap('measuredCollateralApy', 'NOT_APPLICABLE', 'The collateral earns nothing by itself.');

/** Give the reasons of a market's empty fields, by their names in the schema. */
export function marketGaps({ market, facts, gaps }: ComposedMarket): readonly Gap[] {
  const named = renamedGaps(gaps, NAMES);
  const unshared = facts.sharedLiquidity
    ? undefined
    : named.find(({ field }) => field === 'publicAllocatorLiquidityUsd');
  return [
    ...named,
    ...(market.curator === undefined ? [NO_CURATOR] : []),
    ...(facts.collateralApy ? [] : [NO_YIELD]),
    ...(unshared ? [{ ...unshared, field: 'sharedLiquidity' }] : []),
  ];
}

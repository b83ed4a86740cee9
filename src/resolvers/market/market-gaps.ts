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

/** Tell why fields of a market are empty, by their names in the schema. */
export function marketGaps({ gaps }: ComposedMarket): readonly Gap[] {
  return renamedGaps(gaps, NAMES);
}

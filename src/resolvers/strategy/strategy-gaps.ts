import type { Gap } from '../../domain/freshness/types.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { renamedGaps } from '../common/gap-names.ts';

/** Fields of a strategy that the domain names otherwise than the schema. */
const NAMES: Readonly<Record<string, string | null>> = {
  'collateral.priceUsd': 'collateralPrice',
  'loan.priceUsd': 'loanPrice',
  'collateral.maturity': 'collateral.maturesAt',
  'collateral.maturityDate': null,
  inputFreshness: 'freshness',
  'spiralHints.exitLiquidityTier': 'exitLiquidityTier',
  'exitLiquidity.slippagePct': 'exitLiquidity.slippages',
  'links.app': 'links.appUrl',
  'links.market': 'links.marketUrl',
  'links.yieldSource': 'links.yieldSourceUrl',
  visibility: 'visibility.checks',
  'ltvPct.max': 'ltvLimits.maxPct',
  'ltvPct.safe': 'ltvLimits.safePct',
};

const OF_KIND: Readonly<Record<Strategy['kind'], Readonly<Record<string, string | null>>>> = {
  loop: {
    ...NAMES,
    'spiralHints.profile': 'profile',
    equityVault: null,
    yieldSustainabilityPct: 'collateralApyMeans',
    historicalLeverageApyPct: 'leverageApyMeans',
  },
  equity: {
    ...NAMES,
    'spiralHints.profile': null,
    collateralApyPct: 'yieldLegApyPct',
    'equityVault.yieldLegApyPct': 'yieldLegApyPct',
    yieldSustainabilityPct: 'yieldLegApyMeans',
    historicalLeverageApyPct: 'netApyMeans',
    leverageLadder: 'netApyLadder',
    defaultLeverage: 'targetRung',
    maxLeverage: null,
  },
};

/** Tell why fields of a strategy are empty, by their names in the schema. */
export function strategyGaps({ kind, gaps }: Strategy): readonly Gap[] {
  return renamedGaps(gaps, OF_KIND[kind]).map((gap) =>
    gap.field.startsWith(RULES) ? { ...gap, field: `${RULES}${gap.field.slice(RULES.length).toUpperCase()}` } : gap,
  );
}

/** Rules of listing are told by the names of their enum. */
const RULES = 'visibility.checks.';

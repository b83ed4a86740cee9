import type { Gap } from '../../domain/freshness/types.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { renamedGaps } from '../common/gap-names.ts';

/** Fields of a strategy that the domain names otherwise than the schema. */
type Names = Readonly<Record<string, string>>;

const SHARED: Names = {
  'collateral.priceUsd': 'collateralPrice',
  'loan.priceUsd': 'loanPrice',
  'collateral.maturity': 'collateral.maturesAt',
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

/** A vault has the shape of a loop in the domain, and one of its own in the schema. */
const NAMES: Readonly<Record<'loop' | 'equity', Names>> = {
  loop: {
    ...SHARED,
    'spiralHints.profile': 'profile',
    yieldSustainabilityPct: 'collateralApyMeans',
  },
  equity: {
    ...SHARED,
    collateralApyPct: 'yieldLegApyPct',
    'equityVault.yieldLegApyPct': 'yieldLegApyPct',
    yieldSustainabilityPct: 'yieldLegApyMeans',
  },
};

/** Give the reasons of a strategy's empty fields, by their names in the schema. */
export const strategyGaps = ({ kind, gaps }: Strategy): readonly Gap[] =>
  renamedGaps(gaps, NAMES[kind]).map((gap) =>
    gap.field.startsWith(RULES) ? { ...gap, field: `${RULES}${gap.field.slice(RULES.length).toUpperCase()}` } : gap,
  );

/** Listing rules have the names of their enum. */
const RULES = 'visibility.checks.';

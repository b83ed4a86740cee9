/** Names of the fields of a strategy in the schema, by their names in the domain, which are those of the frozen /v1 contract; `null` = the schema has none. */
export type FieldNames = Readonly<Record<string, string | null>>;

const SHARED: FieldNames = {
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

/** By kind of strategy: a vault has the shape of a loop in /v1, and one of its own in the schema. */
export const STRATEGY_NAMES: Readonly<Record<'loop' | 'equity', FieldNames>> = {
  loop: {
    ...SHARED,
    'spiralHints.profile': 'profile',
    equityVault: null,
    yieldSustainabilityPct: 'collateralApyMeans',
  },
  equity: {
    ...SHARED,
    'spiralHints.profile': null,
    collateralApyPct: 'yieldLegApyPct',
    'equityVault.yieldLegApyPct': 'yieldLegApyPct',
    yieldSustainabilityPct: 'yieldLegApyMeans',
  },
};

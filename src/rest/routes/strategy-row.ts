import { CONTRACT_NAMES } from '../../shared/contract/strategy-names.ts';
import { absenceOf } from '../absence.ts';
import type { StrategyBriefsQuery, StrategyByIdQuery } from '../generated/operations.ts';
import { strategyBriefSchema, strategySchema } from '../schemas/strategy.ts';
import { projectAge, projectExit, projectIncentive, projectMeans, projectPrice } from './market-facts.ts';
import { assumedIn, noneIn, toNumber } from './shared.ts';

const inStrategy = absenceOf(strategySchema);
const inBrief = absenceOf(strategyBriefSchema);

type StrategyData = NonNullable<StrategyByIdQuery['strategy']>;
type Loop = Extract<StrategyData, { readonly leverageLadder: unknown }>;
type Vault = Extract<StrategyData, { readonly netApyLadder: unknown }>;
type Gap = StrategyData['gaps'][number];
type BriefData = NonNullable<StrategyBriefsQuery['strategies']>['nodes'][number];

/** Convert a strategy to the frozen REST shape: money as numbers, unmeasured values absent. */
export function projectStrategy(strategy: StrategyData): unknown {
  const gaps = strategy.gaps.flatMap((gap) => namesOf(gap, strategy).map((field) => ({ ...gap, field })));
  const failed = strategy.visibility.checks.flatMap(({ rule, passed }) => (passed ? [] : [rule]));
  const { freshness } = strategy;
  const body = {
    ...strategy,
    id: strategy.strategyId,
    collateral: projectCollateral(strategy),
    loan: { ...strategy.loan, symbol: strategy.loan.displaySymbol, priceUsd: projectPrice(strategy.loanPrice) },
    ...('netApyLadder' in strategy ? projectVault(strategy) : projectLoop(strategy)),
    supplyUsd: toNumber(strategy.supplyUsd),
    liquidityUsd: toNumber(strategy.liquidityUsd),
    publicAllocatorLiquidityUsd: toNumber(strategy.publicAllocatorLiquidityUsd),
    pointsIncentive: strategy.pointsIncentive && {
      program: strategy.pointsIncentive.program,
      perDayPerCollateralToken: Number(strategy.pointsIncentive.perDayPerCollateralToken),
    },
    borrowIncentive: projectIncentive(strategy.borrowIncentive),
    collateralIncentive: projectIncentive(strategy.collateralIncentive),
    ltvPct: projectLtv(strategy),
    exitLiquidity: projectExit(strategy.exitLiquidity),
    spiralHints: projectHints(strategy),
    freshness: projectAges(strategy),
    inputFreshness:
      freshness.prices || freshness.incentives ? { prices: freshness.prices, incentives: freshness.incentives } : null,
    links: strategy.links && {
      app: strategy.links.appUrl,
      market: strategy.links.marketUrl,
      yieldSource: strategy.links.yieldSourceUrl,
    },
    listed: strategy.visibility.listed,
    notListedBecause: failed.length === 0 ? null : failed,
    deployment: strategy.deployment?.freshness ? strategy.deployment : null,
    gaps: assumedIn(gaps),
  };
  return inStrategy(body, noneIn(gaps));
}

/** Convert a strategy to the fields that compare it to others, named as in the whole. */
export function projectStrategyBrief(strategy: BriefData): unknown {
  const { strategyId: id, collateral, loan, visibility } = strategy;
  const gaps = strategy.gaps.flatMap((gap) => namesOf(gap, strategy).map((field) => ({ ...gap, field })));
  const body = {
    ...strategy,
    id,
    collateral: {
      ...collateral,
      symbol: collateral.displaySymbol,
      maturityDate: collateral.maturesAt && dateOf(collateral.maturesAt),
    },
    loan: { ...loan, symbol: loan.displaySymbol },
    ...('netApyLadder' in strategy ? projectVaultRates(strategy) : {}),
    ltvPct: projectLtv(strategy),
    liquidityUsd: toNumber(strategy.liquidityUsd),
    freshness: projectAges(strategy),
    listed: visibility.listed,
  };
  return inBrief(body, noneIn(gaps));
}

function projectLtv({ ltvLimits }: Pick<StrategyData, 'ltvLimits'>) {
  return { liquidation: ltvLimits.liquidationPct, max: ltvLimits.maxPct };
}

function projectAges({ freshness }: Pick<BriefData, 'freshness'>) {
  return {
    borrow: freshness.borrow,
    collateralApy: projectAge(freshness.collateralApy),
    exitLiquidity: projectAge(freshness.exitLiquidity),
  };
}

function dateOf(time: string): string {
  return time.slice(0, 'YYYY-MM-DD'.length);
}

function projectCollateral({ collateral, collateralPrice }: StrategyData) {
  const { maturesAt, underlyingAddress, underlyingSymbol } = collateral;
  return {
    ...collateral,
    symbol: collateral.displaySymbol,
    priceUsd: projectPrice(collateralPrice),
    maturity: maturesAt === null ? null : Date.parse(maturesAt) / 1_000,
    maturityDate: maturesAt && dateOf(maturesAt),
    underlying: underlyingAddress === null ? null : { address: underlyingAddress, symbol: underlyingSymbol },
  };
}

function projectLoop(loop: Loop) {
  return {
    yieldSustainabilityPct: projectMeans(loop.collateralApyMeans),
    historicalLeverageApyPct: projectMeans(loop.leverageApyMeans),
  };
}

/** The contract shows a vault in the shape of a loop, with its terms beside. */
function projectVault(vault: Vault) {
  const { depositToken } = vault;
  return {
    ...projectVaultRates(vault),
    collateralApySource: vault.yieldLegApySource,
    yieldSustainabilityPct: projectMeans(vault.yieldLegApyMeans),
    historicalLeverageApyPct: projectMeans(vault.netApyMeans),
    equityVault: {
      stockMarketId: vault.marketId,
      yieldStrategyId: vault.yieldStrategyId,
      depositToken: { ...depositToken, symbol: depositToken.displaySymbol },
      targetLtvPct: vault.targetLtvPct,
      maxStockLtvPct: vault.ltvLimits.maxPct,
      yieldLegApyPct: vault.yieldLegApyPct,
    },
  };
}

function projectVaultRates(vault: Pick<Vault, 'netApyLadder' | 'targetRung' | 'yieldLegApyPct'>) {
  const rung = ({ ltvPct, grossExposure, netApyPct }: Vault['targetRung']) => ({
    leverage: grossExposure,
    ltvPct,
    leverageApyPct: netApyPct,
  });
  const ladder = vault.netApyLadder.map(rung);
  return {
    collateralApyPct: vault.yieldLegApyPct,
    maxLeverage: ladder.at(-1)?.leverage ?? null,
    leverageLadder: ladder,
    defaultLeverage: rung(vault.targetRung),
  };
}

/** The opinions of the contract; `null` when there is none on this strategy. */
function projectHints(strategy: StrategyData) {
  const { exitLiquidityTier: tier, warnings } = strategy;
  const profile = 'profile' in strategy ? strategy.profile : null;
  if (tier === null && profile === null && warnings.length === 0) return null;
  return {
    exitLiquidityTier: tier && {
      value: tier.tier,
      thresholds: { listingMaxPct: Number(tier.listingMaxPct), depthCleanMaxPct: Number(tier.cleanMaxPct) },
    },
    profile: profile && { value: profile.kind, leverageApyMeaning: profile.leverageApyMeaning },
    warnings: warnings.length === 0 ? null : warnings,
  };
}

/** The names that the contract has for a field of the schema. */
function namesOf({ field }: Pick<Gap, 'field'>, strategy: object): readonly string[] {
  return CONTRACT_NAMES['netApyLadder' in strategy ? 'equity' : 'loop'].get(field) ?? [field];
}

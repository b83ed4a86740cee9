import { CONTRACT_NAMES } from '../../shared/contract/strategy-names.ts';
import { EQUITY_PREFIX } from '../../shared/ids.ts';
import { absenceOf } from '../absence.ts';
import type { StrategyBriefsQuery, StrategyByIdQuery } from '../generated/operations.ts';
import { strategyBriefSchema, strategySchema } from '../schemas/strategy.ts';
import { projectAge, projectExit, projectIncentive, projectPrice } from './market-facts.ts';
import { assumedIn, noneIn, toNumber } from './shared.ts';

const inStrategy = absenceOf(strategySchema);
const inBrief = absenceOf(strategyBriefSchema);

type StrategyData = NonNullable<StrategyByIdQuery['strategy']>;
type Vault = Extract<StrategyData, { readonly depositToken: unknown }>;
type Gap = StrategyData['gaps'][number];
type BriefData = NonNullable<StrategyBriefsQuery['strategies']>['nodes'][number];

/** Convert a strategy to the frozen REST shape: money as numbers, unmeasured values absent. */
export function projectStrategy(strategy: StrategyData): unknown {
  const isVault = 'depositToken' in strategy;
  const gaps = contractGaps(strategy.gaps, isVault);
  const failed = strategy.visibility.checks.flatMap(({ rule, passed }) => (passed ? [] : [rule]));
  const { freshness } = strategy;
  const body = {
    ...strategy,
    collateral: projectCollateral(strategy),
    loan: { ...strategy.loan, priceUsd: projectPrice(strategy.loanPrice) },
    supplyUsd: toNumber(strategy.supplyUsd),
    liquidityUsd: toNumber(strategy.liquidityUsd),
    publicAllocatorLiquidityUsd: toNumber(strategy.publicAllocatorLiquidityUsd),
    pointsIncentive: strategy.pointsIncentive && {
      program: strategy.pointsIncentive.program,
      perDayPerCollateralToken: Number(strategy.pointsIncentive.perDayPerCollateralToken),
    },
    borrowIncentive: projectIncentive(strategy.borrowIncentive),
    collateralIncentive: projectIncentive(strategy.collateralIncentive),
    exitLiquidity: projectExit(strategy.exitLiquidity),
    spiralHints: projectHints(strategy),
    freshness: projectAges(strategy),
    inputFreshness:
      freshness.prices || freshness.incentives ? { prices: freshness.prices, incentives: freshness.incentives } : null,
    listed: strategy.visibility.listed,
    notListedBecause: failed.length === 0 ? null : failed,
    deployment: strategy.deployment?.freshness ? strategy.deployment : null,
    equityVault: isVault ? projectTerms(strategy) : null,
    gaps: assumedIn(gaps),
  };
  return inStrategy(body, noneIn(gaps));
}

/** Convert a strategy to the fields that compare it to others, named as in the whole. */
export function projectStrategyBrief(strategy: BriefData): unknown {
  const { collateral, visibility } = strategy;
  const body = {
    ...strategy,
    collateral: { ...collateral, maturityDate: collateral.maturesAt && dateOf(collateral.maturesAt) },
    liquidityUsd: toNumber(strategy.liquidityUsd),
    freshness: projectAges(strategy),
    listed: visibility.listed,
  };
  return inBrief(body, noneIn(contractGaps(strategy.gaps, strategy.id.startsWith(EQUITY_PREFIX))));
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
    priceUsd: projectPrice(collateralPrice),
    maturity: maturesAt === null ? null : Date.parse(maturesAt) / 1_000,
    maturityDate: maturesAt && dateOf(maturesAt),
    underlying: underlyingAddress === null ? null : { address: underlyingAddress, symbol: underlyingSymbol },
  };
}

/** The contract shows a vault in the shape of a loop, with its terms beside. */
function projectTerms(vault: Vault) {
  return {
    stockMarketId: vault.marketId,
    yieldStrategyId: vault.yieldStrategyId,
    depositToken: vault.depositToken,
    targetLtvPct: vault.targetLtvPct,
    maxStockLtvPct: vault.ltvPct.max,
    yieldLegApyPct: vault.collateralApyPct,
  };
}

/** The opinions of the contract; `null` when there is none on this strategy. */
function projectHints(strategy: StrategyData) {
  const { exitLiquidityTier: tier, warnings } = strategy;
  const profile = 'profile' in strategy ? strategy.profile : null;
  if (tier === null && profile === null && warnings.length === 0) return null;
  return {
    exitLiquidityTier: tier && {
      value: tier.value,
      thresholds: {
        listingMaxPct: Number(tier.listingMaxPct),
        depthCleanMaxPct: Number(tier.depthCleanMaxPct),
      },
    },
    profile,
    warnings: warnings.length === 0 ? null : warnings,
  };
}

/** Name the fields of gaps as the contract does; one of the schema may be two of the contract. */
function contractGaps<G extends Pick<Gap, 'field'>>(gaps: readonly G[], isVault: boolean): readonly G[] {
  const names = CONTRACT_NAMES[isVault ? 'equity' : 'loop'];
  return gaps.flatMap((gap) => (names.get(gap.field) ?? [gap.field]).map((field) => ({ ...gap, field })));
}

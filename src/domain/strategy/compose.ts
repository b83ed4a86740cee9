import { type Decimal, formatPct, ZERO } from '../../shared/decimal.ts';
import type { StrategyId } from '../../shared/ids.ts';
import type { ChainRules } from '../deployment/rules.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { ladderEntries, type Rung } from '../leverage/ladder.ts';
import type { ComposedMarket } from '../market/types.ts';
import type { Warning } from '../plausibility/types.ts';
import { exitTierHint, explainExit, formatNoRoute, lacksRoute } from './exit.ts';
import { addMarketFields, type LinkTemplates, linksOf, type StrategyDraft, wadPct } from './parts.ts';
import { staticsOf } from './statics.ts';
import type { LadderEntry, SpiralHints, Strategy } from './types.ts';
import { type ListingRules, visibilityOf } from './visibility.ts';

export interface StrategyParams {
  readonly nowMs: number;
  readonly listing: ListingRules;
  readonly links: LinkTemplates;
  /** Listing rules about the deployment. */
  readonly rules: ChainRules;
}

const PERP_PROFILE = {
  value: 'leveraged_perp',
  leverageApyMeaning:
    'Signed yearly carry of the financed position: the yield of the collateral at this leverage less the cost of the debt. It excludes price changes of the collateral; a negative number is a cost.',
} as const satisfies NonNullable<SpiralHints['profile']>;

const NO_PROFILE = gap('profile', 'NOT_APPLICABLE', 'The collateral follows the loan token.');

/** Compose the strategy of a loop market with every field of the frozen contract. Empty fields are explained in `gaps`. */
export function composeStrategy(composed: ComposedMarket, params: StrategyParams): Strategy {
  const { market } = composed;
  const statics = staticsOf(composed);
  const sweep = composed.facts.exitLiquidity;
  const gaps: Gap[] = statics.gaps.concat(composed.gaps.flatMap(gapsOfStrategy));
  const ladders = laddersOf(composed);
  const id = market.id as string as StrategyId;
  const links = linksOf(id, market, params.links, gaps);
  const spiralHints = hintsOf(composed, gaps);
  const noRoute = lacksRoute(market.collateral, sweep?.value);
  const noSwapRoute = formatNoRoute('noSwapRoute', noRoute, gapOf(composed, 'exitLiquidity'), gaps);
  const [deployed, matching] = [params.rules.of(market), params.rules.matching(market)];
  gaps.push(...deployed.gaps, ...matching.gaps);
  const strategy: StrategyDraft = {
    id,
    chainId: market.chainId,
    marketId: market.id,
    kind: 'loop',
    correlated: market.correlated,
    collateral: statics.collateral,
    loan: statics.loan,
    collateralApyPct: formatPct(composed.collateralApyPct),
    collateralApySource: composed.collateralApySource,
    totalCollateralApyPct: formatPct(composed.effectiveCollateralApyPct),
    borrowApyPct: formatPct(composed.borrowApyPct),
    netBorrowApyPct: formatPct(composed.netBorrowApyPct),
    maxLeverage: (ladders.leverageLadder.at(-1) ?? ladders.defaultLeverage).leverage,
    utilizationPct: wadPct(composed.utilization),
    leverageLadder: ladders.leverageLadder,
    defaultLeverage: ladders.defaultLeverage,
    ltvPct: statics.ltvPct,
    noSwapRoute,
    freshness: composed.stamps,
    inputFreshness: inputsOf(composed.stamps),
    fees: composed.fees.formatted,
    visibility: visibilityOf(
      {
        market: composed,
        yieldsPct: [
          composed.worst.collateralApyPct ?? composed.collateralApyPct,
          knownAprPct(composed.collateralIncentive),
          knownAprPct(composed.borrowIncentive),
        ],
        needsYield: market.correlated,
        lacksRoute: noRoute,
        maturing: market.collateral,
        nowMs: params.nowMs,
        deployment: [...deployed.checks, ...matching.checks],
      },
      params.listing,
    ),
    gaps,
  };
  addMarketFields(strategy, composed);
  const { yieldSustainabilityPct, historicalLeverageApyPct } = composed.averaged.formatted;
  if (yieldSustainabilityPct) strategy.yieldSustainabilityPct = yieldSustainabilityPct;
  if (historicalLeverageApyPct) strategy.historicalLeverageApyPct = historicalLeverageApyPct;
  if (market.curator !== undefined) strategy.curator = market.curator;
  if (spiralHints) strategy.spiralHints = spiralHints;
  if (links) strategy.links = links;
  if (composed.deployment) strategy.deployment = composed.deployment;
  return strategy;
}

/** Return the gap of a market's field. */
function gapOf(composed: ComposedMarket, name: string): Gap | undefined {
  return composed.gaps.find(({ field }) => field === name);
}

/** Pick the ages that the freshness groups of the frozen contract lack. */
function inputsOf({ prices, incentives }: ComposedMarket['stamps']): Strategy['inputFreshness'] {
  return { prices, incentives };
}

/**
 * Map a gap of a market to gaps of its strategy: effective APY and limits of a market are part of the strategy's leverage
 * fields.
 */
export function gapsOfStrategy(missing: Gap): readonly Gap[] {
  const [, means = '', window = ''] = MEANS.exec(missing.field) ?? [];
  const fields = window === '' ? FIELDS_OF_GAP[missing.field] : [`${FIELDS_OF_GAP[means]}${window}`];
  return fields?.map((field) => ({ ...missing, field })) ?? [missing];
}
const MEANS = /^(means\.\w+)(\..+)$/;
const FIELDS_OF_GAP: Readonly<Record<string, readonly string[]>> = {
  effectiveCollateralApyPct: ['totalCollateralApyPct', 'leverageLadder', 'defaultLeverage'],
  'ltvLimits.maxPct': ['ltvLimits.maxPct', 'maxLeverage'],
  'means.collateralApy': ['collateralApyMeans'],
  'means.leverageApy': ['historicalLeverageApyPct'],
};

type Ladders = Pick<Strategy, 'leverageLadder' | 'defaultLeverage'>;

function laddersOf({ effectiveCollateralApyPct, netBorrowApyPct, limits }: ComposedMarket): Ladders {
  const entries = (rungs: readonly Rung[]) => ladderEntries(rungs, effectiveCollateralApyPct, netBorrowApyPct);
  return { leverageLadder: entries(limits.rungs), defaultLeverage: entries([limits.safeRung])[0] as LadderEntry };
}

function hintsOf(composed: ComposedMarket, gaps: Gap[]): SpiralHints | undefined {
  if (composed.market.correlated) gaps.push(NO_PROFILE);
  const tier = exitTierPart(composed, gaps);
  const hints = composed.market.correlated ? tier : { ...tier, profile: PERP_PROFILE };
  return withWarnings(hints, composed.warnings);
}

/** Add warnings to the hints. Without warnings the same object is returned. */
export function withWarnings(hints: SpiralHints | undefined, warnings: readonly Warning[]): SpiralHints | undefined {
  return warnings.length === 0 ? hints : { ...hints, warnings };
}

/** Grade the exit of a market's collateral; `undefined` with a gap when it was never measured. */
export function exitTierPart(
  composed: ComposedMarket,
  gaps: Gap[],
): Pick<SpiralHints, 'exitLiquidityTier'> | undefined {
  const sweep = composed.facts.exitLiquidity;
  if (sweep) {
    explainExit(sweep.value, gaps);
    return exitTierHint(sweep.value);
  }
  const missing = gapOf(composed, 'exitLiquidity');
  if (missing) gaps.push({ ...missing, field: 'exitLiquidityTier' });
  return undefined;
}

/** The rate of an incentive, percent: 0 when none runs, `undefined` when it is not known. */
function knownAprPct(incentive: ComposedMarket['borrowIncentive']): Decimal | undefined {
  return incentive === undefined ? undefined : (incentive?.aprPct ?? ZERO);
}

import { formatPct } from '../../shared/decimal.ts';
import type { StrategyId } from '../../shared/ids.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { ladderEntries } from '../leverage/ladder.ts';
import type { ComposedMarket } from '../market/types.ts';
import { exitLiquidityOf, exitTierHint, explainExit, foundNoRoute } from './exit.ts';
import { averagesOf, incentiveFields, type LinkTemplates, linksOf, priceFields, usdFields, wadPct } from './parts.ts';
import { staticsOf } from './statics.ts';
import type { LadderEntry, SpiralHints, Strategy } from './types.ts';
import { type ListingRules, visibilityOf } from './visibility.ts';

export interface StrategyParams {
  readonly nowMs: number;
  readonly listing: ListingRules;
  readonly links: LinkTemplates;
}

const PERP_PROFILE = {
  value: 'leveraged_perp',
  leverageApyMeaning:
    'Signed yearly carry of the financed position: what the collateral earns at this leverage less what the debt costs. The price of the collateral moves freely and is not part of it; a negative number is a cost.',
} as const satisfies NonNullable<SpiralHints['profile']>;

/** Compose the strategy of a loop market: every field of the frozen contract, what is empty explained in `gaps`. */
export function composeStrategy(composed: ComposedMarket, params: StrategyParams): Strategy {
  const { market } = composed;
  const statics = staticsOf(market);
  const sweep = composed.facts.exitLiquidity;
  const gaps: Gap[] = [...statics.gaps, ...composed.gaps];
  const ladder = ladderEntries(
    [...statics.rungs, statics.safeRung],
    composed.effectiveCollateralApyPct,
    composed.netBorrowApyPct,
  );
  const id = market.id as string as StrategyId;
  const head = { id, chainId: market.chainId, marketId: market.id };
  const links = linksOf(head, params.links, gaps);
  const spiralHints = hintsOf(composed, gaps);
  const noSwapRoute = market.collateral.noSwapRoute || foundNoRoute(sweep?.value);
  const averages = averagesOf(composed.history.collateralApyPct);
  const historical = averagesOf(composed.history.carry?.leverageApyPct);
  const { quarterlyBorrowApyPct } = composed.history;
  gaps.push(gap('equity', 'NOT_APPLICABLE', 'The strategy is not an equity vault.'));
  return {
    ...head,
    kind: 'loop',
    correlated: market.correlated,
    ...(market.curator === undefined ? {} : { curator: market.curator }),
    collateral: { ...statics.collateral, ...priceFields(composed.collateralPrice) },
    loan: { ...statics.loan, ...priceFields(composed.loanPrice) },
    collateralApyPct: formatPct(composed.collateralApyPct),
    collateralApySource: composed.collateralApySource,
    ...(averages ? { yieldSustainabilityPct: averages } : {}),
    ...(market.collateral.points === undefined ? {} : { pointsIncentive: market.collateral.points }),
    borrowApyPct: formatPct(composed.borrowApyPct),
    ...(quarterlyBorrowApyPct ? { quarterlyBorrowApyPct: formatPct(quarterlyBorrowApyPct) } : {}),
    ...incentiveFields(composed),
    netBorrowApyPct: formatPct(composed.netBorrowApyPct),
    ...usdFields(composed),
    maxLeverage: statics.rungs[statics.rungs.length - 1]?.leverage ?? statics.safeRung.leverage,
    utilizationPct: wadPct(composed.utilization),
    leverageLadder: ladder.slice(0, -1),
    defaultLeverage: ladder[ladder.length - 1] as LadderEntry,
    ...(historical ? { historicalLeverageApyPct: historical } : {}),
    ltvPct: statics.ltvPct,
    oracle: statics.oracle,
    exitLiquidity: exitLiquidityOf(sweep),
    noSwapRoute,
    ...(spiralHints ? { spiralHints } : {}),
    freshness: composed.stamps,
    ...(links ? { links } : {}),
    visibility: visibilityOf(
      {
        market: composed,
        yieldPct: composed.effectiveCollateralApyPct.plus(composed.borrowIncentive?.aprPct ?? 0),
        needsYield: market.correlated,
        noSwapRoute,
        maturing: market.collateral,
        nowMs: params.nowMs,
      },
      params.listing,
    ),
    gaps,
  };
}

function hintsOf(composed: ComposedMarket, gaps: Gap[]): SpiralHints | undefined {
  if (composed.market.correlated) {
    gaps.push(gap('spiralHints.profile', 'NOT_APPLICABLE', 'The collateral follows the loan token.'));
  }
  const tier = exitTierPart(composed, gaps);
  if (composed.market.correlated && !tier) return undefined;
  return { ...tier, ...(composed.market.correlated ? {} : { profile: PERP_PROFILE }) };
}

/** Grade the exit of a market's collateral; `undefined` and explained when it was never measured. */
export function exitTierPart(
  composed: ComposedMarket,
  gaps: Gap[],
): Pick<SpiralHints, 'exitLiquidityTier'> | undefined {
  const sweep = composed.facts.exitLiquidity;
  if (sweep) {
    explainExit(sweep.value, gaps);
    return { exitLiquidityTier: exitTierHint(sweep.value) };
  }
  const missing = composed.gaps.find(({ field }) => field === 'exitLiquidity');
  if (missing) gaps.push({ ...missing, field: 'spiralHints.exitLiquidityTier' });
  return undefined;
}

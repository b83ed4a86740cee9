import { z } from 'zod';
import { absenceOf } from '../absence.ts';
import type { AppMarketsQuery, MarketBriefsQuery } from '../generated/operations.ts';
import { appMarketSchema, appMarketsEnvelope, marketBriefSchema, marketBriefsEnvelope } from '../schemas/app-market.ts';
import { chainIdChoice } from '../schemas/common.ts';
import { maxAgeParam } from '../schemas/fresh-reads.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { listOrNone, projectAge, projectMeans, slippageBySize } from './market-facts.ts';
import { answered, assumedIn, noneIn, PUBLIC_ERRORS, projectMissing, type RouteOptions } from './shared.ts';

type AppMarket = NonNullable<AppMarketsQuery['markets']>['nodes'][number];

/**
 * Make the function that tags the exact numbers of a value by its response schema: a field that the schema makes `{$bn}` or
 * `{$bigint}` gets its tag, at any depth.
 */
function taggerOf(schema: z.ZodType): (value: unknown) => unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return taggerOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) {
    const tag = taggerOf(schema.element as z.ZodType);
    return (value) => (Array.isArray(value) ? value.map(tag) : value);
  }
  if (schema instanceof z.ZodRecord) {
    const tag = taggerOf(schema.valueType as z.ZodType);
    return (value) => mapFields(value, (_name, item) => tag(item));
  }
  if (!(schema instanceof z.ZodObject)) return (value) => value;
  const shape = schema.shape as Record<string, z.ZodType>;
  if ('$bn' in shape) return (value) => (value === null || value === undefined ? value : { $bn: String(value) });
  if ('$bigint' in shape)
    return (value) => (value === null || value === undefined ? value : { $bigint: String(value) });
  const tags = new Map(Object.entries(shape).map(([name, field]) => [name, taggerOf(field)]));
  return (value) => mapFields(value, (name, item) => tags.get(name)?.(item) ?? item);
}

function mapFields(value: unknown, map: (name: string, item: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(name, item)]));
}

const tagged = taggerOf(appMarketSchema);
const inMarket = absenceOf(appMarketSchema);
const inBrief = absenceOf(marketBriefSchema);

type MarketBrief = NonNullable<MarketBriefsQuery['markets']>['nodes'][number];

/** Project the fields that compare a market to others, named as in the whole. */
function projectBrief(market: MarketBrief): unknown {
  const { marketId, listed, collateral, loan, ltvLimits } = market;
  const gaps = market.gaps.map((gap) => ({ ...gap, field: NAMES[gap.field] ?? gap.field }));
  const body = {
    ...market,
    id: marketId,
    visible: listed,
    collateral: { ...collateral, maturity: collateral.maturesAt },
    loan: { ...loan, maturity: loan.maturesAt },
    liquidationLtvPct: ltvLimits.liquidationPct,
    maxLtvPct: ltvLimits.maxPct,
  };
  return inBrief(tagged(body), noneIn(gaps));
}

/** Project one market for the app: exact numbers tagged, unmeasured fields left out. */
function projectAppMarket(market: AppMarket): unknown {
  const { ltvLimits, oracle, state, freshness, exitLiquidity } = market;
  const gaps = market.gaps.map((gap) => ({ ...gap, field: NAMES[gap.field] ?? gap.field }));
  const body = {
    ...market,
    id: market.marketId,
    visible: market.listed,
    collateral: { ...market.collateral, maturity: market.collateral.maturesAt },
    loan: { ...market.loan, maturity: market.loan.maturesAt },
    lltv: market.lltvWad,
    oracle: {
      address: oracle.address,
      type: oracle.type,
      price: oracle.priceE36,
      blockNumber: oracle.readAt.blockNumber,
      asOf: oracle.readAt.blockTime,
    },
    state: {
      ...state,
      lastUpdate: state.lastAccrualAt,
      fee: state.feeWad,
      rateAtTarget: state.rateAtTargetWad,
      borrowRate: state.borrowRateWad,
      blockNumber: state.readAt.blockNumber,
      asOf: state.readAt.blockTime,
    },
    utilization: market.utilizationWad,
    borrowIncentive: projectCampaigns(market.borrowIncentive),
    collateralIncentive: projectCampaigns(market.collateralIncentive),
    liquidationLtvPct: ltvLimits.liquidationPct,
    maxLtvPct: ltvLimits.maxPct,
    safeLtvPct: ltvLimits.safePct,
    gaps: assumedIn(gaps),
    deployment: market.deployment?.freshness ? market.deployment : null,
    collateralPrice: projectSourced(market.collateralPrice),
    loanPrice: projectSourced(market.loanPrice),
    exitSlippage: exitLiquidity && slippageBySize(exitLiquidity),
    sharedLiquidity:
      market.sharedLiquidity?.map(({ vaultAddress, ...row }) => ({ ...row, vault: vaultAddress })) ?? null,
    trailing: projectTrailing(market),
    freshness: {
      borrow: freshness.borrow,
      oracle: freshness.oracle,
      collateralApy: projectAge(freshness.collateralApy),
      exitLiquidity: projectAge(freshness.exitLiquidity),
    },
  };
  return inMarket(tagged(body), noneIn(gaps));
}

/** Names that the contract has for fields that are called otherwise in the schema. */
const NAMES: Readonly<Record<string, string>> = {
  'ltvLimits.maxPct': 'maxLtvPct',
  'ltvLimits.safePct': 'safeLtvPct',
};

function projectTrailing({ means, quarterlyBorrowApyPct }: AppMarket) {
  return {
    collateralApyPct: projectMeans(means.collateralApy),
    effectiveCollateralApyPct: projectMeans(means.effectiveCollateralApy),
    netBorrowApyPct: projectMeans(means.netBorrowApy),
    leverageApyPct: projectMeans(means.leverageApy),
    quarterlyBorrowApyPct,
  };
}

function projectCampaigns(incentive: AppMarket['borrowIncentive']) {
  if (incentive === null) return null;
  const { aprPct, campaigns, isLowerBound, restricted } = incentive;
  return {
    aprPct,
    campaigns: campaigns.map(({ campaignId, rewardSymbol, ...campaign }) => ({
      ...campaign,
      id: campaignId,
      symbol: rewardSymbol,
    })),
    lowerBound: isLowerBound || null,
    restricted: listOrNone(
      restricted.map(({ campaignId, rewardSymbol, reason, ...campaign }) => ({
        ...campaign,
        id: campaignId,
        symbol: rewardSymbol,
        reason: reason.toLowerCase(),
      })),
    ),
  };
}

function projectSourced(price: AppMarket['collateralPrice']) {
  return price && { usd: price.usd, asOf: price.freshness.asOf, source: price.source };
}

type List = NonNullable<AppMarketsQuery['markets']>;

function projectList<M>(
  { asOf, nodes, missingChains, missingFacts }: Omit<List, 'nodes'> & { readonly nodes: readonly M[] },
  project: (market: M) => unknown,
) {
  const missing = missingFacts.map(({ chainId, ...facts }) => ({ chainId, ...projectMissing(facts) }));
  return {
    asOf,
    count: nodes.length,
    markets: nodes.map(project),
    leftOut: missingChains.length === 0 ? undefined : missingChains,
    missing: missing.length === 0 ? undefined : missing,
  };
}

export function appMarketRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/app/markets',
      surface: 'Public',
      summary: 'All markets at full precision',
      description:
        'The composed markets of all chains, or of one chain, listed or not. leftOut names the chains without any measurement; 503 if that is all chains. missing names unmeasured facts of the other chains. Big numbers are tagged: {"$bn": decimal string} and {"$bigint": integer string}.',
      operation: 'AppMarkets',
      tool: {
        name: 'list_markets',
        list: { fields: ['markets'], limit: 10 },
        brief: {
          operation: 'MarketBriefs',
          project: ({ markets }: MarketBriefsQuery) => projectList(answered(markets), projectBrief),
          response: marketBriefsEnvelope,
        },
      },
      params: z.object({
        chainId: chainIdChoice(chainIds)
          .optional()
          .describe('Chain id; limits the list to this chain. All chains when left out.'),
        ...maxAgeParam,
      }),
      variables: ({ params: { chainId, ...fresh } }) =>
        chainId === undefined ? fresh : { chainIds: [chainId], ...fresh },
      project: ({ markets }: AppMarketsQuery) => projectList(answered(markets), projectAppMarket),
      response: appMarketsEnvelope,
      errors: [...PUBLIC_ERRORS, 'not_ready'],
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
  ];
}

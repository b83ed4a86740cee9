import { z } from 'zod';
import { absenceOf } from '../absence.ts';
import type { AppMarketsQuery, MarketBriefsQuery } from '../generated/operations.ts';
import { appMarketSchema, appMarketsEnvelope, marketBriefSchema, marketBriefsEnvelope } from '../schemas/app-market.ts';
import { chainIdChoice } from '../schemas/common.ts';
import { maxAgeParam } from '../schemas/fresh-reads.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { listOrNone, projectAge, slippageBySize } from './market-facts.ts';
import { answered, assumedIn, noneIn, PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

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
function projectBrief({ ltvLimits, ...market }: MarketBrief): unknown {
  return inBrief(tagged({ ...market, ...ltvLimits }), noneIn(contractGaps(market.gaps)));
}

/** Project one market for the app: exact numbers tagged, unmeasured fields left out. */
function projectAppMarket({ ltvLimits, ...market }: AppMarket): unknown {
  const { oracle, state, freshness, exitLiquidity } = market;
  const gaps = contractGaps(market.gaps);
  const body = {
    ...market,
    ...ltvLimits,
    oracle: { ...oracle, ...oracle.readAt },
    state: { ...state, ...state.readAt },
    borrowIncentive: projectCampaigns(market.borrowIncentive),
    collateralIncentive: projectCampaigns(market.collateralIncentive),
    gaps: assumedIn(gaps),
    deployment: market.deployment?.freshness ? market.deployment : null,
    collateralPrice: projectSourced(market.collateralPrice),
    loanPrice: projectSourced(market.loanPrice),
    exitSlippage: exitLiquidity && slippageBySize(exitLiquidity),
    trailing: { ...market.trailing, quarterlyBorrowApyPct: market.quarterlyBorrowApyPct },
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

function contractGaps<G extends { readonly field: string }>(gaps: readonly G[]): readonly G[] {
  return gaps.map((gap) => ({ ...gap, field: NAMES[gap.field] ?? gap.field }));
}

function projectCampaigns(incentive: AppMarket['borrowIncentive']) {
  if (incentive === null) return null;
  const { lowerBound, restricted, ...rest } = incentive;
  return {
    ...rest,
    lowerBound: lowerBound || null,
    restricted: listOrNone(
      restricted.map(({ reason, ...campaign }) => ({ ...campaign, reason: reason.toLowerCase() })),
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
  return {
    asOf,
    count: nodes.length,
    markets: nodes.map(project),
    leftOut: missingChains.length === 0 ? undefined : missingChains,
    missing: missingFacts.length === 0 ? undefined : missingFacts,
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

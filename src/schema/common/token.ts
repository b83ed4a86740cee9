import { APY_SOURCES, MAX_DECIMALS } from '../../catalog/schema.ts';
import { maturityDaysLeftIn } from '../../resolvers/common/age.ts';
import { existingPageSize } from '../../resolvers/common/list-sizes.ts';
import { requireChain } from '../../resolvers/market/chains.ts';
import { readCandles, readPriceChart } from '../../resolvers/market/charts.ts';
import {
  findCatalogToken,
  findToken,
  freshToken,
  freshTokens,
  readPrice,
  tokenGaps,
} from '../../resolvers/market/tokens.ts';
import { builder } from '../builder.ts';
import { CandlesRef, candleArgs, candlesCost } from '../market/candles.ts';
import { TokenPriceRef } from '../market/price.ts';
import { chartArgs, PriceChartRef } from '../market/price-chart.ts';
import { TokenRef } from '../refs.ts';
import { ChainRef } from './chain.ts';
import { freshArgs } from './fresh-args.ts';
import { gapsOf } from './gaps.ts';
import { defineNode } from './node.ts';
import { CHAINS, pageArgs } from './page.ts';

/** Cost of a field that asks an upstream: five points of the budget, as the root fields of the same name. */
const RELAY_COST = 500;

export const CategoryRef = builder.enumType('TokenCategory', {
  description: 'Kind of asset that a token is.',
  values: {
    STABLE: { value: 'stable', description: 'Dollar stablecoins and their savings versions.' },
    ETH: { value: 'ETH', description: 'Ether and its staked versions.' },
    BTC: { value: 'BTC', description: 'Bitcoin and its wrapped versions.' },
    STABLE_PT: { value: 'stable-PT', description: 'Principal tokens that redeem to a dollar stablecoin.' },
    STOCKS: { value: 'stocks', description: 'Tokens that follow a stock or fund.' },
    OTHER: { value: 'Other', description: 'Everything else.' },
  } as const,
});

type ApySource = (typeof APY_SOURCES)[number];

const SOURCES: Readonly<Record<ApySource, readonly [name: string, description: string]>> = {
  yieldmarket: ['YIELD_MARKET', 'Implied APY of the principal token on the yield market, until maturity.'],
  aggregator: ['AGGREGATOR', 'Last daily point of the yield aggregator.'],
  incentivemarket: ['INCENTIVE_MARKET', 'APY of the structured vault over 7 days.'],
  stableindex: ['STABLE_INDEX', 'Mean of 7 days of the stablecoin yield index.'],
  onchain: ['ON_CHAIN', 'Rate per second read on chain, compounded over a year: paid now.'],
  none: ['NONE', 'The token earns nothing by itself: its APY is 0 by contract.'],
};

export const ApySourceRef = builder.enumType('CollateralApySource', {
  description: 'Source of the APY of a collateral, and with it the kind of the rate.',
  values: Object.fromEntries(
    APY_SOURCES.map((source) => [SOURCES[source][0], { value: source, description: SOURCES[source][1] }]),
  ) as Record<string, { value: ApySource; description: string }>,
});

defineNode(TokenRef, {
  key: ['chainId', 'address'],
  keyOf: ({ chainId, address }) => [chainId, address],
  load: ([chainId, address], ctx) => findToken({ chainId, address }, ctx),
});

TokenRef.implement({
  description: 'One curated token of one chain.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    chain: t.field({
      type: ChainRef,
      description: 'Chain of the token.',
      resolve: (token, _args, ctx) => requireChain(ctx, token.chainId),
    }),
    address: t.expose('address', {
      type: 'Address',
      description: 'Token contract; the zero address is the native token.',
    }),
    symbol: t.exposeString('symbol', { description: 'Full symbol; that of a principal token carries its date.' }),
    displaySymbol: t.exposeString('displaySymbol', { description: 'Symbol as people see it, without a date.' }),
    name: t.exposeString('name', { description: 'Full name.' }),
    decimals: t.exposeInt('decimals', {
      description: 'Base units per token as a power of ten.',
      extensions: { jsonSchema: { maximum: MAX_DECIMALS } },
    }),
    isNative: t.exposeBoolean('isNative', { description: 'Whether the token is the native token of its chain.' }),
    category: t.expose('category', { type: CategoryRef, description: 'Kind of asset.' }),
    project: t.exposeString('project', { nullable: true, description: 'Issuer.' }),
    yieldSource: t.exposeString('yieldSource', {
      nullable: true,
      description: 'Origin of the yield, in a few words.',
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Nature of the token and of its yield, in one or two plain sentences.',
    }),
    apySource: t.expose('apySource', { type: ApySourceRef, description: 'Source of the APY of the token.' }),
    isPt: t.exposeBoolean('isPt', { description: 'Whether the token is a principal token with a maturity.' }),
    maturesAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the maturity; `null` = the token does not mature.',
      resolve: ({ maturity }) => (maturity === undefined ? null : maturity * 1000),
    }),
    maturityDaysLeft: t.int({
      nullable: true,
      description: 'Whole days until the maturity, 0 once matured; `null` = the token does not mature.',
      resolve: ({ maturity }, _args, ctx) => maturityDaysLeftIn(maturity ?? null, ctx),
    }),
    underlying: t.field({
      type: TokenRef,
      nullable: true,
      description: 'Curated token that a principal token redeems to; `null` = none, or it is not curated.',
      resolve: ({ chainId, underlying }, _args, ctx) =>
        underlying ? findCatalogToken({ chainId, address: underlying.address }, ctx) : null,
    }),
    underlyingAddress: t.field({
      type: 'Address',
      nullable: true,
      description: 'Contract of the token that a principal token redeems to.',
      extensions: { nullWith: 'underlying' },
      resolve: ({ underlying }) => underlying?.address ?? null,
    }),
    underlyingSymbol: t.string({
      nullable: true,
      description: 'Symbol of the token that a principal token redeems to.',
      extensions: { nullWith: 'underlying' },
      resolve: ({ underlying }) => underlying?.symbol ?? null,
    }),
    noSwapRoute: t.exposeBoolean('noSwapRoute', {
      description: 'Whether the curators know of no swap route for the token.',
    }),
  }),
});

builder.objectFields(TokenRef, (t) => ({
  price: t.field({
    type: TokenPriceRef,
    nullable: true,
    description:
      'Latest believed USD price, as strategies and markets use it; the last good one with its age while the providers fail.',
    resolve: (token, _args, ctx) => readPrice(token, ctx).price ?? null,
  }),
  priceUsd: t.field({
    type: 'Decimal',
    nullable: true,
    description: '`price.usd`: USD per token.',
    resolve: (token, _args, ctx) => readPrice(token, ctx).price?.value.usd ?? null,
  }),
  priceChart: t.field({
    type: PriceChartRef,
    nullable: true,
    complexity: { field: RELAY_COST, multiplier: 1 },
    description:
      'Price chart, relayed from an external provider on demand; `null` = the provider has no such coin. The error `upstream_unavailable` when it fails.',
    args: chartArgs(t.arg),
    resolve: ({ coingeckoId: coinId }, args, ctx) => {
      if (coinId === undefined) return null;
      ctx.countCall?.('Token.priceChart');
      return readPriceChart({ ...args, coinId }, ctx);
    },
  }),
  candles: t.field({
    type: CandlesRef,
    nullable: true,
    complexity: (args) => ({ ...candlesCost(args), field: RELAY_COST }),
    description:
      'USD candles from the deepest exchange pool that holds the token; the error `not_found` when none is indexed, `upstream_unavailable` when the provider fails.',
    args: candleArgs(t.arg),
    resolve: ({ chainId, address }, args, ctx) => {
      ctx.countCall?.('Token.candles');
      return readCandles({ ...args, chainId, address }, ctx);
    },
  }),
  gaps: t.field(gapsOf((token, ctx) => tokenGaps(token, ctx))),
}));

const TokenConnectionRef = builder.connectionObject(
  { type: TokenRef, name: 'TokenConnection', description: 'A page of tokens.' },
  { name: 'TokenEdge', description: 'A token and its place in the list.' },
);

builder.queryFields((t) => ({
  tokens: t.field({
    type: TokenConnectionRef,
    nullable: true,
    complexity: (args, ctx) => ({ field: 1, multiplier: existingPageSize(args, 'tokens', ctx) }),
    description: 'Curated tokens, in catalog order.',
    args: {
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
      categories: t.arg({ type: [CategoryRef], description: 'Only of these categories; of all when left out.' }),
      ...pageArgs(t.arg),
      ...freshArgs(t.arg),
    },
    resolve: (_root, args, ctx, info) => freshTokens(args, ctx, info),
  }),
  token: t.field({
    type: TokenRef,
    nullable: true,
    description: 'One curated token; an address that is not curated is answered with the error `not_found`.',
    args: {
      chainId: t.arg({ type: 'ChainId', required: true, description: 'Id of the chain of the token.' }),
      address: t.arg({ type: 'Address', required: true, description: 'Contract of the token, in any case.' }),
      ...freshArgs(t.arg),
    },
    resolve: (_root, args, ctx, info) => freshToken(args, ctx, info),
  }),
}));

import type { Token } from '../../catalog/types.ts';
import { requireChain } from '../../resolvers/market/chains.ts';
import { findToken, listTokens, readPrice } from '../../resolvers/market/tokens.ts';
import { APY_SOURCES } from '../../shared/vocabulary.ts';
import { builder } from '../builder.ts';
import { TokenPriceRef } from '../market/price.ts';
import { TokenRef } from '../refs.ts';
import { ChainRef } from './chain.ts';
import { defineNode } from './node.ts';

export const CategoryRef = builder.enumType('TokenCategory', {
  description:
    'What kind of asset a token is. Spelled as in the v1 contract, where `stable_PT` is written `stable-PT`.',
  values: {
    stable: { value: 'stable', description: 'Dollar stablecoins and their savings versions.' },
    ETH: { value: 'ETH', description: 'Ether and its staked versions.' },
    BTC: { value: 'BTC', description: 'Bitcoin and its wrapped versions.' },
    stable_PT: { value: 'stable-PT', description: 'Principal tokens that redeem to a dollar stablecoin.' },
    stocks: { value: 'stocks', description: 'Tokens that follow a stock or fund.' },
    Other: { value: 'Other', description: 'Everything else.' },
  } as const,
});

const SOURCE_DESCRIPTIONS: Record<(typeof APY_SOURCES)[number], string> = {
  yieldmarket: 'Implied APY of the principal token on the yield market.',
  aggregator: 'Last daily point of the yield aggregator.',
  incentivemarket: '7-day APY of the structured vault.',
  stableindex: '7-day average of the stablecoin yield index.',
  onchain: 'Per-second rate read on chain, compounded over a year.',
  none: 'The token earns nothing by itself: its APY is "0.00" by contract.',
};

export const ApySourceRef = builder.enumType('CollateralApySource', {
  description: 'Where the APY of a collateral comes from.',
  values: Object.fromEntries(
    APY_SOURCES.map((source) => [source, { value: source, description: SOURCE_DESCRIPTIONS[source] }]),
  ) as { [S in (typeof APY_SOURCES)[number]]: { value: S; description: string } },
});

export const UnderlyingRef = builder.objectRef<NonNullable<Token['underlying']>>('UnderlyingToken').implement({
  description: 'What a principal token redeems to.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'Its address on the same chain.' }),
    symbol: t.exposeString('symbol', { description: 'Its symbol.' }),
  }),
});

defineNode(TokenRef, {
  key: ['chainId', 'address'],
  keyOf: ({ chainId, address }) => [chainId, address],
  load: ([chainId, address], ctx) => findToken({ chainId, address }, ctx),
});

TokenRef.implement({
  description: 'One curated token of one chain.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain it lives on.' }),
    chain: t.field({
      type: ChainRef,
      description: 'The chain it lives on.',
      resolve: (token, _args, ctx) => requireChain(ctx, token.chainId),
    }),
    address: t.expose('address', {
      type: 'Address',
      description: 'Its contract; the zero address is the native token.',
    }),
    symbol: t.exposeString('symbol', { description: 'Full symbol; that of a principal token carries its date.' }),
    displaySymbol: t.exposeString('displaySymbol', { description: 'Symbol as people see it, without a date.' }),
    name: t.exposeString('name', { description: 'Full name.' }),
    decimals: t.exposeInt('decimals', { description: 'Base units per token as a power of ten.' }),
    isNative: t.exposeBoolean('isNative', { description: 'Whether it is the native token of its chain.' }),
    category: t.expose('category', { type: CategoryRef, description: 'What kind of asset it is.' }),
    project: t.exposeString('project', { nullable: true, description: 'Who issues it; `null` when not curated.' }),
    yieldSource: t.exposeString('yieldSource', {
      nullable: true,
      description: 'What its yield comes from, in a few words; `null` when not curated or it earns nothing.',
    }),
    description: t.exposeString('description', {
      nullable: true,
      description:
        'What it is and how it earns, in one or two plain sentences; `null` for tokens that are no collateral.',
    }),
    apySource: t.expose('apySource', { type: ApySourceRef, description: 'Where its APY comes from.' }),
    isPt: t.exposeBoolean('isPt', { description: 'Whether it is a principal token with a maturity.' }),
    maturity: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it matures; `null` = it does not mature.',
      resolve: (token) => (token.maturity === undefined ? null : token.maturity * 1000),
    }),
    underlying: t.expose('underlying', {
      type: UnderlyingRef,
      nullable: true,
      description: 'What it redeems to; `null` for tokens that are no principal tokens.',
    }),
    noSwapRoute: t.exposeBoolean('noSwapRoute', { description: 'Whether it is known to have no swap route.' }),
    price: t.field({
      type: TokenPriceRef,
      description: 'Latest USD price with source and age.',
      resolve: (token, _args, ctx) => readPrice(token, ctx),
    }),
  }),
});

builder.queryFields((t) => ({
  tokens: t.field({
    type: [TokenRef],
    complexity: { field: 1, multiplier: 50 },
    description: 'Curated tokens, in catalog order.',
    args: {
      chainIds: t.arg({ type: ['ChainId'], description: 'Only of these chains; all when left out.' }),
      categories: t.arg({ type: [CategoryRef], description: 'Only of these kinds; all when left out.' }),
    },
    resolve: (_root, args, ctx) => listTokens(args, ctx),
  }),
  token: t.field({
    type: TokenRef,
    nullable: true,
    description: 'One curated token; an address that is not curated is answered with the error `not_found`.',
    args: {
      chainId: t.arg({ type: 'ChainId', required: true, description: 'The chain it lives on.' }),
      address: t.arg({ type: 'Address', required: true, description: 'Its contract address, in any case.' }),
    },
    resolve: (_root, args, ctx) => findToken(args, ctx),
  }),
}));

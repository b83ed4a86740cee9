import type { SummedDivergence } from '../../domain/tvl/types.ts';
import type { TvlTotals } from '../../resolvers/common/services.ts';
import { type ChainTvlView, chainTvlGaps, readTvl, type TvlView, totalsGaps } from '../../resolvers/market/tvl.ts';
import { MAX_CHAINS, MAX_MARKETS } from '../../shared/contract/list-bounds.ts';
import { formatPct, toFixedHalfUp } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';
import { MissingChainRef } from '../common/page.ts';
import { FreshnessRef } from '../common/stamp.ts';

type Fields = Parameters<Parameters<ReturnType<typeof builder.objectRef<TvlTotals>>['implement']>[0]['fields'] & {}>[0];

/** The sums, over one chain or all. `tvlUsd + borrowedUsd = grossTvlUsd` holds exactly on these numbers. */
function sumFields(t: Fields) {
  return {
    tvlUsd: t.field({
      type: 'Decimal',
      description: 'Net equity of the users: collateral less debt. USD with 2 places. Signed.',
      resolve: ({ tvlUsd }) => toFixedHalfUp(tvlUsd, 2),
    }),
    grossTvlUsd: t.field({
      type: 'Decimal',
      description: 'Collateral of all positions. USD with 2 places.',
      resolve: ({ grossTvlUsd }) => toFixedHalfUp(grossTvlUsd, 2),
    }),
    borrowedUsd: t.field({
      type: 'Decimal',
      description: 'Debt of all positions. USD with 2 places.',
      resolve: ({ borrowedUsd }) => toFixedHalfUp(borrowedUsd, 2),
    }),
    badDebtUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Debt beyond the collateral of a position, USD with 2 places: no borrower has to pay it, and `tvlUsd` is that much lower than the equity of the users.',
      resolve: ({ badDebtUsd }) => (badDebtUsd === undefined ? null : toFixedHalfUp(badDebtUsd, 2)),
    }),
    divergentUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Part of `grossTvlUsd` that is valued by an oracle far from its reference, USD with 2 places: see `oracleDivergences` of the chains.',
      resolve: ({ divergentUsd }) => (divergentUsd === undefined ? null : toFixedHalfUp(divergentUsd, 2)),
    }),
    positionCount: t.exposeInt('positions', { description: 'Number of open positions with collateral.' }),
    userCount: t.exposeInt('users', { description: 'Number of distinct wallets with such a position.' }),
  };
}

const TotalRef = builder.objectRef<TvlTotals>('TvlTotal').implement({
  description: 'Sums over open positions. `tvlUsd + borrowedUsd = grossTvlUsd` holds exactly on these numbers.',
  fields: (t) => ({ ...sumFields(t), gaps: t.field(gapsOf(totalsGaps)) }),
});

const ReferenceRef = builder.enumType('OracleReference', {
  description: 'Value that an oracle is compared with.',
  values: {
    PRICE: { value: 'price', description: 'USD price of the collateral.' },
    RANGE: {
      value: 'range',
      description:
        'Bound of the values that a token of its kind can have: the collateral has no price that is independent of the oracle.',
    },
    BEFORE: {
      value: 'before',
      description:
        'Value of the oracle before a jump less than a day ago: the collateral has no price that is independent of the oracle.',
    },
  } as const,
});

const DivergenceRef = builder.objectRef<SummedDivergence>('OracleDivergence').implement({
  description: 'An oracle far from its reference, and the sums that depend on it.',
  fields: (t) => ({
    marketId: t.expose('marketId', { type: 'MarketId', description: 'Id of the market.' }),
    oracleAddress: t.expose('oracle', { type: 'Address', description: 'Oracle contract of the market.' }),
    reference: t.expose('against', { type: ReferenceRef, description: 'Value that the oracle is compared with.' }),
    oracleUsd: t.expose('oracleUsd', {
      type: 'Decimal',
      description: 'USD per collateral token by the oracle and the price of the loan token.',
    }),
    referenceUsd: t.expose('referenceUsd', {
      type: 'Decimal',
      description: 'USD per collateral token by the reference.',
    }),
    divergencePct: t.field({
      type: 'Decimal',
      description: 'Distance of the oracle from the reference. Signed percent with 2 places.',
      resolve: ({ divergencePct }) => formatPct(divergencePct),
    }),
    grossTvlUsd: t.field({
      type: 'Decimal',
      description: 'Collateral in the sums that the oracle values. USD with 2 places.',
      resolve: ({ grossTvlUsd }) => toFixedHalfUp(grossTvlUsd, 2),
    }),
    borrowedUsd: t.field({
      type: 'Decimal',
      description: 'Debt against that collateral. USD with 2 places.',
      resolve: ({ borrowedUsd }) => toFixedHalfUp(borrowedUsd, 2),
    }),
    positionCount: t.exposeInt('positions', { description: 'Number of open positions with that collateral.' }),
  }),
});

const ChainTvlRef = builder.objectRef<ChainTvlView>('ChainTvl').implement({
  description: 'Total value in open positions on one chain: the sums, and the oracles that they rest on.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    ...sumFields(t as unknown as Fields),
    freshness: t.expose('stamp', { type: FreshnessRef, description: 'Age of the computation.' }),
    oracleDivergences: t.field({
      type: [DivergenceRef],
      nullable: true,
      complexity: { field: 1, multiplier: 5 },
      description: `Oracles far from their reference (more than 10 % from a price, more than 20 % from the value before a jump) whose values are in the sums, the largest first; one per market, at most ${MAX_MARKETS}.`,
      resolve: ({ oracleDivergences }) => oracleDivergences ?? null,
    }),
    gaps: t.field(gapsOf(chainTvlGaps)),
  }),
});

const TvlRef = builder.objectRef<TvlView>('Tvl').implement({
  description: 'Total value in open positions.',
  fields: (t) => ({
    freshness: t.expose('stamp', { type: FreshnessRef, description: 'Age of the computation that is oldest.' }),
    missingChains: t.expose('missingChains', {
      type: [MissingChainRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Chains that are in no sum, because nothing was computed for them; one per served chain, at most ${MAX_CHAINS}.`,
    }),
    total: t.expose('total', { type: TotalRef, description: 'Sums over all computed chains.' }),
    chains: t.expose('chains', {
      type: [ChainTvlRef],
      complexity: { field: 1, multiplier: 2 },
      description: `Computed chains, one entry per served chain, at most ${MAX_CHAINS}.`,
    }),
  }),
});

builder.queryField('tvl', (t) =>
  t.field({
    type: TvlRef,
    nullable: true,
    description: 'Total value in open positions; the error `not_ready` until one chain is computed.',
    resolve: (_root, _args, ctx) => readTvl(ctx),
  }),
);

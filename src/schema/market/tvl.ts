import type { SummedDivergence } from '../../domain/tvl/types.ts';
import type { TvlTotals } from '../../resolvers/common/services.ts';
import { readTvl, type ShownTvl } from '../../resolvers/market/tvl.ts';
import { formatPct, toFixedHalfUp } from '../../shared/decimal.ts';
import { ORACLE_REFERENCE } from '../../shared/vocabulary.ts';
import { builder } from '../builder.ts';
import { LeftOutChainRef } from '../common/page.ts';

const TotalsRef = builder.interfaceRef<TvlTotals>('TvlTotals').implement({
  description: 'Sums over open positions. `tvlUsd + borrowedUsd = grossTvlUsd` holds exactly on these numbers.',
  fields: (t) => ({
    tvlUsd: t.field({
      type: 'Decimal',
      description: 'Net equity of the users: collateral less debt, USD with 2 places.',
      resolve: ({ tvlUsd }) => toFixedHalfUp(tvlUsd, 2),
    }),
    grossTvlUsd: t.field({
      type: 'Decimal',
      description: 'Looped collateral, USD with 2 places.',
      resolve: ({ grossTvlUsd }) => toFixedHalfUp(grossTvlUsd, 2),
    }),
    borrowedUsd: t.field({
      type: 'Decimal',
      description: 'Debt owed, USD with 2 places.',
      resolve: ({ borrowedUsd }) => toFixedHalfUp(borrowedUsd, 2),
    }),
    badDebtUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Debt beyond the collateral of its position, USD with 2 places: no borrower has to pay it, and `tvlUsd` is that much lower than the equity of the users. `null` = not measured yet.',
      resolve: ({ badDebtUsd }) => (badDebtUsd === undefined ? null : toFixedHalfUp(badDebtUsd, 2)),
    }),
    divergentUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'The part of `grossTvlUsd` that is valued by an oracle far from what it can be compared with, USD with 2 places: see `oracleDivergences` of the chains. `null` = not measured yet.',
      resolve: ({ divergentUsd }) => (divergentUsd === undefined ? null : toFixedHalfUp(divergentUsd, 2)),
    }),
    positions: t.exposeInt('positions', { description: 'Open positions with collateral.' }),
    users: t.exposeInt('users', { description: 'Distinct wallets with such a position.' }),
  }),
});

const TotalRef = builder.objectRef<TvlTotals>('TvlTotal').implement({
  interfaces: [TotalsRef],
  isTypeOf: (value) => typeof value === 'object' && value !== null && !('chainId' in value),
  description: 'Sums over all computed chains.',
});

const DivergenceRef = builder.objectRef<SummedDivergence>('OracleDivergence').implement({
  description: 'An oracle far from what it can be compared with, and what is summed by it.',
  fields: (t) => ({
    marketId: t.expose('marketId', { type: 'MarketId', description: 'The market.' }),
    oracle: t.expose('oracle', { type: 'Address', description: 'Its oracle.' }),
    against: t.exposeString('against', { description: ORACLE_REFERENCE }),
    oracleUsd: t.expose('oracleUsd', {
      type: 'Decimal',
      description: 'USD per collateral token by the oracle and the price of the loan token.',
    }),
    referenceUsd: t.expose('referenceUsd', { type: 'Decimal', description: 'What it is compared with, USD.' }),
    divergencePct: t.field({
      type: 'Decimal',
      description: 'Of the oracle from its reference, signed percent with 2 places.',
      resolve: ({ divergencePct }) => formatPct(divergencePct),
    }),
    grossTvlUsd: t.field({
      type: 'Decimal',
      description: 'Collateral in the sums that it values, USD with 2 places.',
      resolve: ({ grossTvlUsd }) => toFixedHalfUp(grossTvlUsd, 2),
    }),
    borrowedUsd: t.field({
      type: 'Decimal',
      description: 'Debt against that collateral, USD with 2 places.',
      resolve: ({ borrowedUsd }) => toFixedHalfUp(borrowedUsd, 2),
    }),
    positions: t.exposeInt('positions', { description: 'Open positions with that collateral.' }),
  }),
});

const ChainTvlRef = builder.objectRef<ShownTvl['chains'][number]>('ChainTvl').implement({
  interfaces: [TotalsRef],
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'chainId' in value,
  description: 'Sums over one chain.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    asOf: t.field({ type: 'DateTime', description: 'When it was computed.', resolve: ({ asOfMs }) => asOfMs }),
    stale: t.exposeBoolean('stale', { description: 'Whether it is past its budget.' }),
    oracleDivergences: t.field({
      type: [DivergenceRef],
      nullable: true,
      description:
        'Oracles far from what they can be compared with (more than 10 % from a price, more than 20 % from the value before a jump) whose values are in the sums, the largest first. `null` = not compared yet.',
      resolve: ({ oracleDivergences }) => oracleDivergences ?? null,
    }),
  }),
});

const TvlRef = builder.objectRef<ShownTvl>('Tvl').implement({
  description: 'Total value in open positions.',
  fields: (t) => ({
    asOf: t.field({
      type: 'DateTime',
      description: 'When the oldest chain was computed.',
      resolve: ({ asOfMs }) => asOfMs,
    }),
    stale: t.exposeBoolean('stale', { description: 'Whether any chain is past its budget.' }),
    leftOut: t.field({
      type: [LeftOutChainRef],
      description: 'Chains that are in no sum, because their TVL was never computed; empty when every chain was.',
      resolve: ({ leftOut }) => leftOut,
    }),
    total: t.expose('total', { type: TotalRef, description: 'Over all computed chains.' }),
    chains: t.expose('chains', {
      type: [ChainTvlRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'By chain; chains not yet computed are left out.',
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

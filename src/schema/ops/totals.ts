import { DRIFT_KINDS } from '../../domain/drift/types.ts';
import type { GroupTotals, PortfolioAggregates, Total } from '../../domain/portfolio/aggregates.ts';
import type { PortfolioSample } from '../../domain/portfolio/report.ts';
import { UNRESOLVED_REASONS } from '../../domain/portfolio/types.ts';
import { POSITION_STATUSES } from '../../domain/position/types.ts';
import { type ReportAggregates, symbolsOf } from '../../resolvers/ops/ops.ts';
import { MAX_CHAINS, MAX_MARKETS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { MissingChainRef } from '../common/page.ts';
import { PositionStatusRef } from '../position/position.ts';
import { DriftKindRef, UnresolvedReasonRef } from './ops-inputs.ts';

const TotalRef = builder.objectRef<Total>('KnownTotal').implement({
  description: 'A sum over the entries with a known value, and the number of those without one.',
  fields: (t) => ({
    sumUsd: t.expose('usd', { type: 'Decimal', description: 'Sum over the known values, exact USD.' }),
    unknownCount: t.exposeInt('unknown', { description: 'Number of entries with an unknown value; not in the sum.' }),
  }),
});

const TotalsRef = builder.objectRef<GroupTotals>('PortfolioTotals').implement({
  description: 'Sums over a group of loops and vaults; the loops of a vault are in the vault.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Number of loops and vaults.' }),
    deposited: t.expose('depositedUsd', { type: TotalRef, description: 'Deposits.' }),
    netValue: t.expose('netValueUsd', { type: TotalRef, description: 'Current collateral less debt.' }),
    divergent: t.expose('divergentUsd', {
      type: TotalRef,
      description: 'Part of the net value that depends on oracles far from their references.',
    }),
    incentives: t.expose('incentivesUsd', { type: TotalRef, description: 'Accrued incentives.' }),
    total: t.expose('totalUsd', { type: TotalRef, description: 'Profit and loss with incentives, before fee.' }),
    yieldFees: t.expose('yieldFeeUsd', { type: TotalRef, description: 'Yield fee of closing everything open today.' }),
    totalAfterFee: t.expose('totalAfterFeeUsd', {
      type: TotalRef,
      description: 'Profit and loss with incentives, less the yield fee.',
    }),
  }),
});

const StatusTotalsRef = builder.objectRef<PortfolioAggregates['byStatus'][number]>('StatusTotals').implement({
  description: 'Sums over the loops and vaults with one status.',
  fields: (t) => ({
    status: t.expose('status', { type: PositionStatusRef, description: 'Status of the loops and vaults.' }),
    totals: t.field({ type: TotalsRef, description: 'Sums.', resolve: (totals) => totals }),
  }),
});

const MarketTotalsRef = builder.objectRef<PortfolioAggregates['byMarket'][number]>('MarketTotals').implement({
  description: 'Sums over the loops in one market, or over the vaults on one stock.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    marketId: t.expose('marketId', { type: 'MarketId', description: 'Id of the market; of vaults the stock market.' }),
    isVault: t.exposeBoolean('isVault', { description: 'Whether the sums are over vaults.' }),
    name: t.string({
      nullable: true,
      description:
        'Name for people: the symbols `collateral/loan`, of vaults the stock; `null` = the market is not in the catalog.',
      resolve: (totals, _args, ctx) => symbolsOf(totals, ctx),
    }),
    totals: t.field({ type: TotalsRef, description: 'Sums.', resolve: (totals) => totals }),
  }),
});

const DriftCountRef = builder.objectRef<PortfolioAggregates['byDriftKind'][number]>('DriftKindCount').implement({
  description: 'Number of disagreements of one kind, by severity.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DriftKindRef, description: 'Kind of the disagreements.' }),
    count: t.exposeInt('count', { description: 'Number of all of them.' }),
    highCount: t.int({
      description: 'Number of those of high severity.',
      resolve: ({ bySeverity }) => bySeverity.high,
    }),
    mediumCount: t.int({
      description: 'Number of those of medium severity.',
      resolve: ({ bySeverity }) => bySeverity.medium,
    }),
    lowCount: t.int({ description: 'Number of those of low severity.', resolve: ({ bySeverity }) => bySeverity.low }),
  }),
});

const UnresolvedCountRef = builder
  .objectRef<PortfolioAggregates['byUnresolvedReason'][number]>('UnresolvedReasonCount')
  .implement({
    description: 'Number of unresolved rows with one reason.',
    fields: (t) => ({
      reason: t.expose('reason', { type: UnresolvedReasonRef, description: 'Reason of the rows.' }),
      count: t.exposeInt('count', { description: 'Number of rows of the matching wallets.' }),
    }),
  });

export const AggregatesRef = builder.objectRef<ReportAggregates>('PortfolioAggregates').implement({
  description: 'Sums and counts over everything that matches.',
  fields: (t) => ({
    walletCount: t.exposeInt('wallets', { description: 'Number of wallets with a match.' }),
    failedWalletCount: t.exposeInt('failedWallets', {
      description: 'Number of wallets that could not be read. The filter does not change it.',
    }),
    totals: t.expose('all', { type: TotalsRef, description: 'Sums over everything that matches.' }),
    byStatus: t.expose('byStatus', {
      type: [StatusTotalsRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Sums by status, one entry per status, at most ${POSITION_STATUSES.length}.`,
    }),
    byMarket: t.expose('byMarket', {
      type: [MarketTotalsRef],
      description: `Sums by market, the largest net value first; one entry per market, at most ${MAX_CHAINS * MAX_MARKETS}.`,
    }),
    byDriftKind: t.expose('byDriftKind', {
      type: [DriftCountRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Disagreements by kind, one entry per kind, at most ${DRIFT_KINDS.length}.`,
    }),
    byUnresolvedReason: t.expose('byUnresolvedReason', {
      type: [UnresolvedCountRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Unresolved rows by reason, one entry per reason, at most ${UNRESOLVED_REASONS.length}.`,
    }),
    missingChains: t.expose('missingChains', {
      type: [MissingChainRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Requested chains that the sums lack; one entry per served chain, at most ${MAX_CHAINS}.`,
    }),
  }),
});

export const SampleRef = builder.objectRef<PortfolioSample>('PortfolioSample').implement({
  description:
    'Sums over all portfolios of a chain at one moment, the latest of its hour. Positions with an unknown value are not in them.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    at: t.field({ type: 'DateTime', description: 'Time of the computation.', resolve: ({ atMs }) => atMs }),
    positionCount: t.exposeInt('positions', { description: 'Number of loops and vaults in the sums.' }),
    depositedUsd: t.expose('depositedUsd', { type: 'Decimal', description: 'Deposits, exact USD.' }),
    netValueUsd: t.expose('netValueUsd', { type: 'Decimal', description: 'Collateral less debt, exact USD.' }),
    incentivesUsd: t.expose('incentivesUsd', { type: 'Decimal', description: 'Accrued incentives, exact USD.' }),
    totalUsd: t.expose('totalUsd', { type: 'Decimal', description: 'Profit and loss with incentives, exact USD.' }),
  }),
});

import type { GroupTotals, PortfolioAggregates, Total } from '../../domain/portfolio/aggregates.ts';
import { isFailed } from '../../domain/portfolio/items.ts';
import type { PortfolioCounts, PortfolioSample } from '../../domain/portfolio/report.ts';
import type { FailedPortfolio } from '../../domain/portfolio/types.ts';
import { askedPageSize, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../resolvers/common/page.ts';
import { readSwapVenues } from '../../resolvers/market/swap-venues.ts';
import {
  listDocuments,
  listDrift,
  listItems,
  listPortfolios,
  MAX_HISTORY_DAYS,
  readAggregates,
  readPortfolio,
  readPortfolioHistory,
  readReport,
  readReports,
  type ShownReport,
  symbolsOf,
} from '../../resolvers/ops/ops.ts';
import { builder } from '../builder.ts';
import { SwapVenueRef } from '../market/swap-venues.ts';
import { PortfolioItemRef, PortfolioRef } from '../position/portfolio.ts';
import { PositionStatusRef } from '../position/position.ts';
import { DriftRef } from './drift.ts';
import {
  DriftFilterRef,
  DriftKindRef,
  PortfolioFilterRef,
  PortfolioOrderRef,
  UnresolvedReasonRef,
} from './ops-inputs.ts';

const CountsRef = builder.objectRef<PortfolioCounts>('PortfolioCounts').implement({
  description: 'What a report counts.',
  fields: (t) => ({
    users: t.exposeInt('users', { description: 'Wallets, those that cannot be told included.' }),
    open: t.exposeInt('open', { description: 'Open plain loops.' }),
    equity: t.exposeInt('equity', { description: 'Open equity vaults.' }),
    closed: t.exposeInt('closed', { description: 'Loops and vaults that have ended.' }),
    unresolved: t.exposeInt('unresolved', { description: 'Rows with nothing behind them on chain.' }),
    drift: t.exposeInt('drift', { description: 'Disagreements between register and chain.' }),
    failed: t.exposeInt('failed', { description: 'Wallets that cannot be told.' }),
  }),
});

const FailedPortfolioRef = builder.objectRef<FailedPortfolio>('FailedPortfolio').implement({
  description: 'A wallet that cannot be told, alone of all: nothing of it is in any list or sum.',
  fields: (t) => ({
    address: t.expose('wallet', { type: 'Address', description: 'The wallet.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    reason: t.string({ description: 'Why, in one word.', resolve: ({ failure }) => failure.reason }),
    message: t.string({ description: 'One plain sentence for people.', resolve: ({ failure }) => failure.message }),
  }),
});

const RecomputeFailureRef = builder.objectRef<NonNullable<ShownReport['failure']>>('RecomputeFailure').implement({
  description: 'Why the latest recompute failed.',
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'What gave no usable answer: `chain` or `database`.' }),
    reason: t.exposeString('reason', { description: 'Why, in one word.' }),
    since: t.field({ type: 'DateTime', description: 'When the failing began.', resolve: ({ sinceMs }) => sinceMs }),
  }),
});

const FIRST = `Entries per page, 1 to ${MAX_PAGE_SIZE}.`;

const DocumentConnectionRef = builder.connectionObject(
  { type: 'JSONObject', name: 'PortfolioDocumentConnection', description: 'A page of wallets as JSON values.' },
  { name: 'PortfolioDocumentEdge', description: 'A wallet as a JSON value and its place in the list.' },
);

const ReportRef = builder.objectRef<ShownReport>('PortfolioReport').implement({
  description: 'Every wallet of a chain, read at one block and kept for 60 seconds.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: 'The chain.', resolve: ({ report }) => report.chainId }),
    blockNumber: t.field({
      type: 'BigInteger',
      description: 'Block at which everything was read.',
      resolve: ({ report }) => report.blockNumber,
    }),
    asOf: t.field({ type: 'DateTime', description: 'Time of that block.', resolve: ({ report }) => report.asOfMs }),
    computedAt: t.field({
      type: 'DateTime',
      description: 'When it was computed.',
      resolve: ({ report }) => report.computedAtMs,
    }),
    ageSec: t.exposeInt('ageSec', { description: 'Whole seconds since then.' }),
    stale: t.exposeBoolean('stale', { description: 'Whether it is older than its budget.' }),
    degraded: t.exposeBoolean('degraded', {
      description: 'Whether the latest recompute failed: this is the last good report.',
    }),
    failure: t.expose('failure', {
      type: RecomputeFailureRef,
      nullable: true,
      description: 'Why it failed; `null` = it did not.',
    }),
    counts: t.field({ type: CountsRef, description: 'What is in it.', resolve: ({ report }) => report.counts }),
    failed: t.field({
      type: [FailedPortfolioRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'Wallets that cannot be told.',
      resolve: ({ report }) => report.entries.filter(isFailed),
    }),
    users: t.field({
      type: DocumentConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: 10 * askedPageSize(args) }),
      description:
        'Wallets in the order of their addresses, each as one JSON value as the v1 contract shows it. The wallets that could not be read are among them.',
      args: {
        first: t.arg.int({ required: true, defaultValue: DEFAULT_PAGE_SIZE, description: FIRST }),
        after: t.arg.string({ description: 'Cursor of the last wallet already seen.' }),
      },
      resolve: (served, args, ctx) => listDocuments(served, args, ctx),
    }),
  }),
});

const TotalRef = builder.objectRef<Total>('KnownTotal').implement({
  description: 'A sum that says of how many entries it does not speak.',
  fields: (t) => ({
    usd: t.expose('usd', { type: 'Decimal', description: 'Sum over what is known, exact USD.' }),
    unknown: t.exposeInt('unknown', { description: 'Entries of which it is not known, and which are not in the sum.' }),
  }),
});

const GroupTotalsRef = builder.interfaceRef<GroupTotals>('GroupTotals').implement({
  description: 'Sums over loops and vaults; the loops of a vault are in the vault.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Loops and vaults.' }),
    depositedUsd: t.expose('depositedUsd', { type: TotalRef, description: 'All that was put in.' }),
    netValueUsd: t.expose('netValueUsd', { type: TotalRef, description: 'What is left now.' }),
    divergentUsd: t.expose('divergentUsd', {
      type: TotalRef,
      description: 'The part of it that stands on oracles far from what they can be compared with.',
    }),
    incentivesUsd: t.expose('incentivesUsd', { type: TotalRef, description: 'Accrued incentives.' }),
    totalUsd: t.expose('totalUsd', { type: TotalRef, description: 'P&L with incentives, before fee.' }),
    yieldFeeUsd: t.expose('yieldFeeUsd', {
      type: TotalRef,
      description: 'What closing everything that is open would pay as yield fee today.',
    }),
    totalAfterFeeUsd: t.expose('totalAfterFeeUsd', { type: TotalRef, description: 'P&L less that fee.' }),
  }),
});

const AllTotalsRef = builder.objectRef<GroupTotals>('PortfolioTotals').implement({
  description: 'Sums over everything that matches.',
  interfaces: [GroupTotalsRef],
  isTypeOf: () => true,
});

const StatusTotalsRef = builder.objectRef<PortfolioAggregates['byStatus'][number]>('StatusTotals').implement({
  description: 'Sums of one status.',
  interfaces: [GroupTotalsRef],
  isTypeOf: () => true,
  fields: (t) => ({ status: t.expose('status', { type: PositionStatusRef, description: 'The status.' }) }),
});

const MarketTotalsRef = builder.objectRef<PortfolioAggregates['byMarket'][number]>('MarketTotals').implement({
  description: 'Sums of one market, or of the vaults on one stock.',
  interfaces: [GroupTotalsRef],
  isTypeOf: () => true,
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    marketId: t.expose('marketId', { type: 'MarketId', description: 'The market; of vaults the stock market.' }),
    isVault: t.exposeBoolean('isVault', { description: 'Whether these are vaults.' }),
    symbols: t.string({
      nullable: true,
      description: 'Collateral/loan, or the stock; `null` = not in the catalog.',
      resolve: (totals, _args, ctx) => symbolsOf(totals, ctx),
    }),
  }),
});

const DriftCountRef = builder.objectRef<PortfolioAggregates['byDriftKind'][number]>('DriftKindCount').implement({
  description: 'Disagreements of one kind.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DriftKindRef, description: 'The kind.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
    high: t.int({ description: 'Of high severity.', resolve: ({ bySeverity }) => bySeverity.high }),
    medium: t.int({ description: 'Of medium severity.', resolve: ({ bySeverity }) => bySeverity.medium }),
    low: t.int({ description: 'Of low severity.', resolve: ({ bySeverity }) => bySeverity.low }),
  }),
});

const UnresolvedCountRef = builder
  .objectRef<PortfolioAggregates['byUnresolvedReason'][number]>('UnresolvedReasonCount')
  .implement({
    description: 'Unresolved rows of one reason.',
    fields: (t) => ({
      reason: t.expose('reason', { type: UnresolvedReasonRef, description: 'The reason.' }),
      count: t.exposeInt('count', { description: 'How many, of the wallets that match.' }),
    }),
  });

const AggregatesRef = builder.objectRef<PortfolioAggregates>('PortfolioAggregates').implement({
  description: 'Sums and counts over everything that matches.',
  fields: (t) => ({
    wallets: t.exposeInt('wallets', { description: 'Wallets with something that matches.' }),
    failedWallets: t.exposeInt('failedWallets', { description: 'Wallets that cannot be told, whatever is asked.' }),
    all: t.expose('all', { type: AllTotalsRef, description: 'Everything together.' }),
    byStatus: t.expose('byStatus', {
      type: [StatusTotalsRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'By status.',
    }),
    byMarket: t.expose('byMarket', { type: [MarketTotalsRef], description: 'By market, the largest net value first.' }),
    byDriftKind: t.expose('byDriftKind', {
      type: [DriftCountRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'By kind of disagreement.',
    }),
    byUnresolvedReason: t.expose('byUnresolvedReason', {
      type: [UnresolvedCountRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Unresolved rows by reason.',
    }),
  }),
});

const SampleRef = builder.objectRef<PortfolioSample>('PortfolioSample').implement({
  description:
    'What all portfolios of a chain came to at one moment, the latest of its hour. Positions that were not fully known are not in it.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    at: t.field({ type: 'DateTime', description: 'When it was computed.', resolve: ({ atMs }) => atMs }),
    positions: t.exposeInt('positions', { description: 'Loops and vaults in the sums.' }),
    depositedUsd: t.expose('depositedUsd', { type: 'Decimal', description: 'All that was put in, exact USD.' }),
    netValueUsd: t.expose('netValueUsd', { type: 'Decimal', description: 'What was left, exact USD.' }),
    incentivesUsd: t.expose('incentivesUsd', { type: 'Decimal', description: 'Accrued incentives, exact USD.' }),
    totalUsd: t.expose('totalUsd', { type: 'Decimal', description: 'P&L with incentives, exact USD.' }),
  }),
});

const PortfolioConnectionRef = builder.connectionObject(
  { type: PortfolioRef, name: 'PortfolioConnection', description: 'A page of wallets.' },
  { name: 'PortfolioEdge', description: 'A wallet and its place in the list.' },
);
const ItemConnectionRef = builder.connectionObject(
  { type: PortfolioItemRef, name: 'PortfolioItemConnection', description: 'A page of loops and vaults.' },
  { name: 'PortfolioItemEdge', description: 'A loop or vault and its place in the list.' },
);
const DriftConnectionRef = builder.connectionObject(
  { type: DriftRef, name: 'DriftConnection', description: 'A page of disagreements.' },
  { name: 'DriftEdge', description: 'A disagreement and its place in the list.' },
);

const AFTER = 'Cursor of the last entry already seen, of the same order.';

const OpsRef = builder.objectRef<object>('Ops').implement({
  description:
    'Every wallet of every chain, joined with the register of positions. A chain is read at most once a minute; while that fails its last good report is served.',
  fields: (t) => ({
    reports: t.field({
      type: [ReportRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'The report behind the other fields, per chain.',
      args: { chainIds: t.arg({ type: ['ChainId'], description: 'The chains; all when left out.' }) },
      resolve: (_ops, args, ctx) => readReports(args, ctx),
    }),
    report: t.field({
      type: ReportRef,
      complexity: { field: 1, multiplier: 1 },
      description: 'The report of one chain.',
      args: { chainId: t.arg({ type: 'ChainId', required: true, description: 'The chain.' }) },
      resolve: (_ops, args, ctx) => readReport(args, ctx),
    }),
    portfolio: t.field({
      type: PortfolioRef,
      description: 'One wallet, read now. One that never opened anything has empty lists.',
      args: {
        address: t.arg({ type: 'Address', required: true, description: 'The wallet.' }),
        chainId: t.arg({ type: 'ChainId', required: true, description: 'The chain.' }),
      },
      resolve: (_ops, args, ctx) => readPortfolio(args, ctx),
    }),
    portfolios: t.field({
      type: PortfolioConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: askedPageSize(args) }),
      description: 'Wallets that have something matching. Those that cannot be told stand in `reports`.',
      args: {
        filter: t.arg({
          type: PortfolioFilterRef,
          description: 'All given conditions must hold of one loop or vault.',
        }),
        orderBy: t.arg({ type: PortfolioOrderRef, description: 'By net value, largest first, when left out.' }),
        first: t.arg.int({ required: true, defaultValue: DEFAULT_PAGE_SIZE, description: FIRST }),
        after: t.arg.string({ description: AFTER }),
      },
      resolve: (_ops, args, ctx) => listPortfolios(args, ctx),
    }),
    items: t.field({
      type: ItemConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: askedPageSize(args) }),
      description: 'Loops and vaults that match, whoever holds them; loops of vaults stand beside their vault.',
      args: {
        filter: t.arg({ type: PortfolioFilterRef, description: 'All given conditions must hold.' }),
        orderBy: t.arg({ type: PortfolioOrderRef, description: 'By net value, largest first, when left out.' }),
        first: t.arg.int({ required: true, defaultValue: DEFAULT_PAGE_SIZE, description: FIRST }),
        after: t.arg.string({ description: AFTER }),
      },
      resolve: (_ops, args, ctx) => listItems(args, ctx),
    }),
    drift: t.field({
      type: DriftConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: askedPageSize(args) }),
      description: 'Where register and chain disagree, what was met first coming first.',
      args: {
        filter: t.arg({ type: DriftFilterRef, description: 'All given conditions must hold.' }),
        first: t.arg.int({ required: true, defaultValue: DEFAULT_PAGE_SIZE, description: FIRST }),
        after: t.arg.string({ description: AFTER }),
      },
      resolve: (_ops, args, ctx) => listDrift(args, ctx),
    }),
    aggregates: t.field({
      type: AggregatesRef,
      description: 'Sums and counts over everything that matches.',
      args: { filter: t.arg({ type: PortfolioFilterRef, description: 'All given conditions must hold.' }) },
      resolve: (_ops, args, ctx) => readAggregates(args, ctx),
    }),
    swapVenues: t.field({
      type: [SwapVenueRef],
      complexity: { field: 1, multiplier: 5 },
      description: 'What each swap venue did for the process that answers: asked, answered, refused, chosen.',
      resolve: (_ops, args, ctx) => [...readSwapVenues(args, ctx)],
    }),
    history: t.field({
      type: [SampleRef],
      complexity: { field: 10, multiplier: 20 },
      description: 'Totals over time, oldest first: a sample per chain and hour in which a report was made.',
      args: {
        chainIds: t.arg({ type: ['ChainId'], description: 'The chains; all when left out.' }),
        days: t.arg.int({
          required: true,
          defaultValue: 30,
          description: `How far back, 1 to ${MAX_HISTORY_DAYS} days.`,
        }),
      },
      resolve: (_ops, args, ctx) => readPortfolioHistory(args, ctx),
    }),
  }),
});

builder.queryFields((t) => ({
  ops: t.field({
    type: OpsRef,
    authScopes: { ops: true },
    description: 'Monitoring of all wallets. Needs a key on the `ops` tier.',
    resolve: () => ({}),
  }),
}));

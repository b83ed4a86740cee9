import { requestedPageSize } from '../../resolvers/common/page.ts';
import {
  freshPortfolio,
  listDrift,
  listItems,
  listPortfolios,
  MAX_HISTORY_DAYS,
  readAggregates,
  readPortfolioHistory,
  readReportList,
} from '../../resolvers/ops/ops.ts';
import { MAX_CHAINS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { freshArgs } from '../common/fresh-args.ts';
import { CHAINS, measuredFields, pageArgs } from '../common/page.ts';
import { PortfolioItemConnectionRef, PortfolioRef } from '../position/portfolio.ts';
import { DriftConnectionRef } from './drift.ts';
import { DriftFilterRef, PortfolioFilterRef, PortfolioOrderRef } from './ops-inputs.ts';
import { ReportListRef } from './report.ts';
import { AggregatesRef, SampleRef } from './totals.ts';

const PortfolioConnectionRef = builder.connectionObject(
  {
    type: PortfolioRef,
    name: 'PortfolioConnection',
    description: 'A page of wallets.',
    fields: (t) => ({
      asOf: t.field(measuredFields.asOf),
      missingChains: t.field(measuredFields.missingChains),
    }),
  },
  { name: 'PortfolioEdge', description: 'A wallet and its place in the list.' },
);
/** Cost of a wallet that is read from its chain now: a point of the budget beside the cost of the root field. */
const LIVE_COST = 100;
const CONDITIONS = 'Conditions on loops and vaults; all given ones must hold of one loop or vault.';
const ORDER = 'Order of the list; by net value, largest first, when left out.';

export const OpsRef = builder.objectRef<object>('Ops').implement({
  description:
    'Every wallet of every chain, joined with the register of positions. A chain is read at most once a minute; while the reading fails the last good report is served.',
  fields: (t) => ({
    reports: t.field({
      type: ReportListRef,
      nullable: true,
      complexity: ({ chainIds }) => ({ field: 1, multiplier: chainIds?.length ?? 2 }),
      description: 'Reports behind the other fields, chain by chain.',
      args: { chainIds: t.arg({ type: ['ChainId'], description: CHAINS }) },
      resolve: (_ops, args, ctx) => readReportList(args, ctx),
    }),
    portfolio: t.field({
      type: PortfolioRef,
      nullable: true,
      complexity: { field: LIVE_COST, multiplier: 1 },
      description: 'One wallet, read now. A wallet that never opened anything has empty lists.',
      args: {
        address: t.arg({ type: 'Address', required: true, description: 'Address of the wallet.' }),
        chainId: t.arg({ type: 'ChainId', required: true, description: 'Id of the chain.' }),
        ...freshArgs(t.arg),
      },
      resolve: (_ops, args, ctx, info) => {
        ctx.countCall?.('Ops.portfolio');
        return freshPortfolio(args, ctx, info);
      },
    }),
    portfolios: t.field({
      type: PortfolioConnectionRef,
      nullable: true,
      complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
      description: 'Wallets with a matching loop or vault. Wallets that could not be read are in `reports`.',
      args: {
        chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
        filter: t.arg({ type: PortfolioFilterRef, description: CONDITIONS }),
        orderBy: t.arg({ type: PortfolioOrderRef, description: ORDER }),
        ...pageArgs(t.arg),
      },
      resolve: (_ops, args, ctx) => listPortfolios(args, ctx),
    }),
    items: t.field({
      type: PortfolioItemConnectionRef,
      nullable: true,
      complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
      description: 'Matching loops and vaults of all wallets; loops of vaults are listed with their vault.',
      args: {
        chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
        filter: t.arg({ type: PortfolioFilterRef, description: CONDITIONS }),
        orderBy: t.arg({ type: PortfolioOrderRef, description: ORDER }),
        isWhole: t.arg.boolean({
          required: true,
          defaultValue: false,
          description:
            'Whether to leave out loops whose vault matches: `totalCount` is then `aggregates.totals.count` of the same filter, and a vault is ordered by the least headroom of its parts.',
        }),
        ...pageArgs(t.arg),
      },
      resolve: (_ops, args, ctx) => listItems(args, ctx),
    }),
    drift: t.field({
      type: DriftConnectionRef,
      nullable: true,
      complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
      description:
        'Disagreements about positions between the register (the database) and the chain, the earliest first sighting first. Rows of the register without a position on chain are in `portfolios { unresolvedRows }`.',
      args: {
        chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
        filter: t.arg({ type: DriftFilterRef, description: 'Conditions on disagreements; all given ones must hold.' }),
        items: t.arg({
          type: PortfolioFilterRef,
          description: 'Only of loops that `items` lists with this filter; of all when left out.',
        }),
        ...pageArgs(t.arg),
      },
      resolve: (_ops, args, ctx) => listDrift(args, ctx),
    }),
    aggregates: t.field({
      type: AggregatesRef,
      nullable: true,
      description: 'Sums and counts over everything that matches.',
      args: {
        chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
        filter: t.arg({ type: PortfolioFilterRef, description: CONDITIONS }),
      },
      resolve: (_ops, args, ctx) => readAggregates(args, ctx),
    }),
  }),
});

builder.objectFields(OpsRef, (t) => ({
  history: t.field({
    type: [SampleRef],
    nullable: true,
    complexity: { field: 10, multiplier: 20 },
    description: `Totals over time, oldest first: one entry per chain and hour, for those with a report, at most ${MAX_CHAINS * 24 * MAX_HISTORY_DAYS} in ${MAX_HISTORY_DAYS} days.`,
    args: {
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
      days: t.arg.int({
        required: true,
        defaultValue: 30,
        description: `Days back from now, 1 to ${MAX_HISTORY_DAYS}.`,
      }),
    },
    resolve: (_ops, args, ctx) => readPortfolioHistory(args, ctx),
  }),
}));

builder.queryFields((t) => ({
  ops: t.field({
    type: OpsRef,
    nullable: true,
    authScopes: { ops: true },
    description: 'Monitoring of all wallets. Needs a key on the `ops` tier.',
    resolve: () => ({}),
  }),
}));

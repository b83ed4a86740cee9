import {
  listHistories,
  MAX_POINTS,
  MAX_RANGE_DAYS,
  type RateHistoryRow,
  readHistory,
} from '../../resolvers/market/histories.ts';
import { MAX_MARKETS } from '../../shared/contract/list-bounds.ts';
import { withWork } from '../../shared/contract/work-costs.ts';
import { builder } from '../builder.ts';
import { ChainRef } from '../common/chain.ts';
import { gapsOf } from '../common/gaps.ts';
import { RatePointRef } from '../common/rate-point.ts';
import { FreshnessRef } from '../common/stamp.ts';
import { MarketRef } from './market.ts';

const HistoryKindRef = builder.enumType('RateHistoryKind', {
  description: 'Rate of a market that is recorded over time.',
  values: {
    BORROW_APY: { value: 'borrowApy', description: 'Borrow APY, without incentives.' },
    COLLATERAL_APY: { value: 'collateralApy', description: 'APY of the collateral, without incentives.' },
    BORROW_INCENTIVE_APR: {
      value: 'incentiveApr',
      description: 'APR of the incentives paid to borrowers: a step function, in which a point holds until the next.',
    },
  } as const,
});

export const ResolutionRef = builder.enumType('HistoryResolution', {
  description: 'Width of the buckets of a history, in UTC.',
  values: {
    RAW: { description: 'As recorded; at most about one point an hour.' },
    HOUR: { description: 'Hours.' },
    DAY: { description: 'Days.' },
    WEEK: { description: 'Weeks from Monday.' },
  } as const,
});

const DownsamplingRef = builder.enumType('Downsampling', {
  description: 'Choice of the value of a bucket.',
  values: {
    MEAN: { description: 'Mean of the points; of incentives weighted by the time that each rate held.' },
    LAST: { description: 'Newest point.' },
  } as const,
});

const HistoryRef = builder.objectRef<RateHistoryRow>('RateHistory').implement({
  description:
    'A recorded rate of one market over time. A bucket in which nothing was recorded is left out; a history without any record has `gaps`.',
  fields: (t) => ({
    kind: t.expose('kind', { type: HistoryKindRef, description: 'Recorded rate.' }),
    marketId: t.field({ type: 'MarketId', description: 'Id of the market.', resolve: ({ market }) => market.id }),
    chainId: t.field({
      type: 'ChainId',
      description: 'Id of the chain of the market.',
      resolve: ({ market }) => market.chainId,
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description:
        'Age of the newest point known, in the range or not; `null` = nothing was ever recorded, see `gaps`.',
    }),
    complete: t.exposeBoolean('complete', {
      description: 'Whether nothing can be added, because the token has matured: the history does not become stale.',
    }),
    fromAt: t.field({
      type: 'DateTime',
      description: 'Begin of the range, included.',
      resolve: ({ range }) => range.fromMs,
    }),
    toAt: t.field({ type: 'DateTime', description: 'End of the range, excluded.', resolve: ({ range }) => range.toMs }),
    resolution: t.expose('resolution', { type: ResolutionRef, description: 'Width of the buckets.' }),
    sources: t.exposeStringList('sources', { description: `Public names of the sources of the points; at most 5.` }),
    points: t.expose('points', {
      type: [RatePointRef],
      complexity: { field: 1, multiplier: 90 },
      description: `Points, oldest first; at most ${MAX_POINTS}.`,
    }),
    gaps: t.field(gapsOf(({ gaps }) => gaps)),
  }),
});

type ArgOf = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

/** Arguments that shape a history: which range, in which buckets. Without a resolution the field's own default counts. */
export function historyArgs(arg: ArgOf, resolution: 'RAW' | 'DAY') {
  return {
    fromAt: arg({ type: 'DateTime', description: 'Begin, included; 90 days before `toAt` when left out.' }),
    toAt: arg({
      type: 'DateTime',
      description: `End, excluded; now when left out. At most ${MAX_RANGE_DAYS} days after \`fromAt\`.`,
    }),
    resolution: arg({
      type: ResolutionRef,
      required: true,
      defaultValue: resolution,
      description: `Width of the buckets. One field answers at most ${MAX_POINTS} points.`,
    }),
    downsampling: arg({
      type: DownsamplingRef,
      required: true,
      defaultValue: 'MEAN',
      description: 'Choice of the value of a bucket.',
    }),
  };
}

builder.objectField(ChainRef, 'rateHistories', (t) =>
  t.field({
    type: [HistoryRef],
    nullable: true,
    complexity: { field: 1, multiplier: 15 },
    description: `One rate of all markets of the chain over time, in catalog order, recorded or not, also of markets that are not composed yet; one entry per market, at most ${MAX_MARKETS}. Of one market on a screen: \`Market.borrowApyHistory\` and the fields beside it.`,
    args: {
      kind: t.arg({ type: HistoryKindRef, required: true, description: 'Recorded rate.' }),
      strategyIds: t.arg({
        type: ['StrategyId'],
        description:
          'Only the markets of these strategies, as far as they are on this chain: of a loop its market, of an equity vault the market of its yield leg for `COLLATERAL_APY` and its stock market for the others. All markets when left out.',
      }),
      ...historyArgs(t.arg, 'DAY'),
    },
    resolve: (chain, args, ctx) => listHistories(chain, args, ctx),
  }),
);

builder.objectFields(MarketRef, (t) => ({
  borrowApyHistory: t.field({
    type: HistoryRef,
    nullable: true,
    complexity: withWork('borrowApyHistory', 1),
    description: 'Borrow APY over time, without incentives.',
    args: historyArgs(t.arg, 'DAY'),
    resolve: ({ market }, args, ctx) => readHistory('borrowApy', market, args, ctx),
  }),
  collateralApyHistory: t.field({
    type: HistoryRef,
    nullable: true,
    complexity: withWork('collateralApyHistory', 1),
    description: 'APY of the collateral over time, without incentives.',
    args: historyArgs(t.arg, 'DAY'),
    resolve: ({ market }, args, ctx) => readHistory('collateralApy', market, args, ctx),
  }),
  borrowIncentiveHistory: t.field({
    type: HistoryRef,
    nullable: true,
    complexity: withWork('borrowIncentiveHistory', 1),
    description:
      'APR of the incentives paid to borrowers over time: a step function, in which a point holds until the next.',
    args: historyArgs(t.arg, 'RAW'),
    resolve: ({ market }, args, ctx) => readHistory('incentiveApr', market, args, ctx),
  }),
}));

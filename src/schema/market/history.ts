import { isStaleIn } from '../../resolvers/common/age.ts';
import {
  type HistoryList,
  isComplete,
  isUnknown,
  listHistories,
  type RateHistoryRow,
  readHistory,
} from '../../resolvers/market/histories.ts';
import { builder } from '../builder.ts';
import { RatePointRef } from '../common/rate-point.ts';
import { FreshnessRef, GapRef } from '../common/stamp.ts';

const ResolutionRef = builder.enumType('HistoryResolution', {
  description: 'Width of the buckets of a history, in UTC.',
  values: {
    RAW: { description: 'As recorded; at most about one point an hour.' },
    HOUR: { description: 'Hours.' },
    DAY: { description: 'Days.' },
    WEEK: { description: 'Weeks from Monday.' },
  } as const,
});

const DownsamplingRef = builder.enumType('Downsampling', {
  description: 'What stands for a bucket.',
  values: {
    MEAN: { description: 'The mean of its points; of incentives weighted by the time that each rate held.' },
    LAST: { description: 'Its newest point.' },
  } as const,
});

const HistoryRef = builder.objectRef<RateHistoryRow>('RateHistory').implement({
  description: 'A recorded rate of one market over time. A bucket in which nothing was recorded is left out.',
  fields: (t) => ({
    id: t.field({ type: 'MarketId', description: 'The market.', resolve: ({ market }) => market.id }),
    chainId: t.field({ type: 'ChainId', description: 'Its chain.', resolve: ({ market }) => market.chainId }),
    asOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the newest point known was measured; `null` when nothing was ever recorded.',
      resolve: ({ stamp }) => stamp?.asOfMs ?? null,
    }),
    stale: t.boolean({
      description:
        'Whether that is past its budget, or nothing is known that could be. False where there can be none: `gap` says so; and of a token that has matured.',
      resolve: (history, _args, ctx) =>
        isUnknown(history) || (history.stamp !== null && !isComplete(history, ctx) && isStaleIn(history.stamp, ctx)),
    }),
    freshness: t.expose('stamp', { type: FreshnessRef, nullable: true, description: 'Age of the newest point known.' }),
    from: t.field({
      type: 'DateTime',
      description: 'Begin of the range, included.',
      resolve: ({ range }) => range.fromMs,
    }),
    to: t.field({ type: 'DateTime', description: 'End of the range, excluded.', resolve: ({ range }) => range.toMs }),
    resolution: t.expose('resolution', { type: ResolutionRef, description: 'Width of the buckets.' }),
    sources: t.exposeStringList('sources', { description: 'Public names of the sources of the points.' }),
    points: t.expose('points', {
      type: [RatePointRef],
      complexity: { field: 1, multiplier: 90 },
      description: 'Oldest first.',
    }),
    gap: t.expose('gap', {
      type: GapRef,
      nullable: true,
      description: 'Why there is no history; `null` when there is one.',
    }),
  }),
});

const HistoryListRef = builder.objectRef<HistoryList>('RateHistories').implement({
  description: 'Recorded rates of several markets.',
  fields: (t) => ({
    asOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Of the history whose newest point is oldest; `null` when nothing was ever recorded.',
      resolve: ({ oldest }) => oldest?.asOfMs ?? null,
    }),
    stale: t.boolean({
      description: 'Whether that is past its budget, or of some market nothing is known that could be.',
      resolve: ({ oldest, hasUnknown }, _args, ctx) => hasUnknown || (oldest !== null && isStaleIn(oldest, ctx)),
    }),
    items: t.expose('items', {
      type: [HistoryRef],
      complexity: { field: 1, multiplier: 30 },
      description: 'One entry per market, recorded or not, in catalog order.',
    }),
  }),
});

const FIELDS = [
  { kind: 'borrowApy', name: 'borrowApyHistor', what: 'Borrow APY', unit: '', resolution: 'DAY' },
  { kind: 'collateralApy', name: 'collateralApyHistor', what: 'Collateral APY', unit: '', resolution: 'DAY' },
  {
    kind: 'incentiveApr',
    name: 'incentiveHistor',
    what: 'Borrow-incentive APR',
    unit: ' A step function: a point holds until the next one.',
    resolution: 'RAW',
  },
] as const;

for (const { kind, name, what, unit, resolution } of FIELDS) {
  builder.queryFields((t) => {
    const shape = () => ({
      from: t.arg({ type: 'DateTime', description: 'Begin, included; 90 days before `to` when left out.' }),
      to: t.arg({ type: 'DateTime', description: 'End, excluded; now when left out. At most 400 days after `from`.' }),
      resolution: t.arg({
        type: ResolutionRef,
        required: true,
        defaultValue: resolution,
        description: 'Width of the buckets. One answer carries at most 100000 points.',
      }),
      downsampling: t.arg({
        type: DownsamplingRef,
        required: true,
        defaultValue: 'MEAN',
        description: 'What stands for a bucket.',
      }),
    });
    return {
      [`${name}y`]: t.field({
        type: HistoryRef,
        nullable: true,
        description: `${what} of one market over time.${unit}`,
        args: {
          id: t.arg({ type: 'MarketId', required: true, description: 'The market.' }),
          chainId: t.arg({ type: 'ChainId', description: 'The chain to look on; all when left out.' }),
          ...shape(),
        },
        resolve: (_root, args, ctx) => readHistory(kind, args, ctx),
      }),
      [`${name}ies`]: t.field({
        type: HistoryListRef,
        description: `${what} of all markets over time, or of the named ones.${unit}`,
        args: {
          chainIds: t.arg({ type: ['ChainId'], description: 'Only of these chains; all when left out.' }),
          ids: t.arg({ type: ['MarketId'], description: 'Only these markets; all when left out.' }),
          ...shape(),
        },
        resolve: (_root, args, ctx) => listHistories(kind, args, ctx),
      }),
    };
  });
}

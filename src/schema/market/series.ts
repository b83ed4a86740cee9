import { MAX_POINTS } from '../../resolvers/market/histories.ts';
import { type MarketMetric, readSeries, readSeriesOfStrategy, type SeriesRow } from '../../resolvers/market/series.ts';
import { withWork } from '../../shared/contract/work-costs.ts';
import type { RatePoint } from '../../shared/rate-history.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';
import { FreshnessRef } from '../common/stamp.ts';
import { historyArgs, ResolutionRef } from './history.ts';
import { MarketRef } from './market.ts';

const MetricRef = builder.enumType('MarketMetric', {
  description: 'Value of a market that is sampled every hour.',
  values: {
    BORROW_APY: { value: 'borrow_apy', description: 'Borrow APY without incentives, percent.' },
    UTILIZATION: { value: 'utilization', description: 'Part of the supply that is lent, percent.' },
    LIQUIDITY: { value: 'liquidity', description: 'Amount that can be borrowed at once, whole loan tokens.' },
    COLLATERAL_PRICE: {
      value: 'collateral_price',
      description: 'Oracle price of the collateral, whole loan tokens per collateral token.',
    },
  } as const satisfies Record<string, { value: MarketMetric; description: string }>,
});

const PointRef = builder.objectRef<RatePoint>('SeriesPoint').implement({
  description: 'One point of a series.',
  fields: (t) => ({
    at: t.field({
      type: 'DateTime',
      description: 'Time of the sample; the start of a bucket.',
      resolve: ({ atMs }) => atMs,
    }),
    value: t.expose('ratePct', { type: 'Decimal', description: 'Value at full precision, in the unit of the metric.' }),
  }),
});

const SeriesRef = builder.objectRef<SeriesRow>('MarketSeries').implement({
  description:
    'One metric of a market over time, by own samples. A bucket in which nothing was recorded is left out; a series without any record has `gaps`.',
  fields: (t) => ({
    metric: t.expose('metric', { type: MetricRef, description: 'The metric.' }),
    marketId: t.field({ type: 'MarketId', description: 'Id of the market.', resolve: ({ market }) => market.id }),
    chainId: t.field({
      type: 'ChainId',
      description: 'Id of the chain of the market.',
      resolve: ({ market }) => market.chainId,
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the newest sample, in the range or after it; `null` = there is none, see `gaps`.',
    }),
    fromAt: t.field({
      type: 'DateTime',
      description: 'Begin of the range, included.',
      resolve: ({ range }) => range.fromMs,
    }),
    toAt: t.field({ type: 'DateTime', description: 'End of the range, excluded.', resolve: ({ range }) => range.toMs }),
    resolution: t.expose('resolution', { type: ResolutionRef, description: 'Width of the buckets.' }),
    sources: t.exposeStringList('sources', { description: 'Public names of the sources of the points; at most 5.' }),
    points: t.expose('points', {
      type: [PointRef],
      complexity: { field: 1, multiplier: 90 },
      description: `Points, oldest first; at most ${MAX_POINTS}.`,
    }),
    gaps: t.field(gapsOf(({ gaps }) => gaps)),
  }),
});

builder.objectField(MarketRef, 'series', (t) =>
  t.field({
    type: SeriesRef,
    nullable: true,
    complexity: withWork('series', 1),
    description: 'One metric over time, sampled every hour and kept for 400 days.',
    args: {
      metric: t.arg({ type: MetricRef, required: true, description: 'The metric.' }),
      ...historyArgs(t.arg, 'DAY'),
    },
    resolve: ({ market }, args, ctx) => readSeries(market, args, ctx),
  }),
);

builder.queryField('marketSeries', (t) =>
  t.field({
    type: SeriesRef,
    nullable: true,
    complexity: withWork('series', 1),
    description:
      'One metric over time of the market of a strategy, also before it is composed; of an equity vault of its stock market.',
    args: {
      id: t.arg({ type: 'StrategyId', required: true, description: 'Domain id or global id of the strategy.' }),
      metric: t.arg({ type: MetricRef, required: true, description: 'The metric.' }),
      ...historyArgs(t.arg, 'DAY'),
    },
    resolve: (_root, args, ctx) => readSeriesOfStrategy(args, ctx),
  }),
);

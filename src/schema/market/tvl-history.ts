import { MAX_POINTS } from '../../resolvers/market/histories.ts';
import { readTvlHistory, type TvlHistory, type TvlPoint } from '../../resolvers/market/tvl-history.ts';
import { MAX_CHAINS } from '../../shared/contract/list-bounds.ts';
import { toFixedHalfUp } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';
import { CHAINS } from '../common/page.ts';
import { FreshnessRef } from '../common/stamp.ts';
import { historyArgs, ResolutionRef } from './history.ts';

const PointRef = builder.objectRef<TvlPoint>('TvlPoint').implement({
  description: 'TVL at one time. `tvlUsd + borrowedUsd = grossTvlUsd` holds on these numbers, but for their rounding.',
  fields: (t) => ({
    at: t.field({
      type: 'DateTime',
      description: 'Time of the sample; the start of a bucket.',
      resolve: ({ atMs }) => atMs,
    }),
    tvlUsd: t.field({
      type: 'Decimal',
      description: 'Net equity of the users: collateral less debt. USD with 2 places. Signed.',
      resolve: ({ grossTvlUsd, borrowedUsd }) => toFixedHalfUp(grossTvlUsd.minus(borrowedUsd), 2),
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
  }),
});

const TvlHistoryRef = builder.objectRef<TvlHistory>('TvlHistory').implement({
  description:
    'Total value in open positions over time, by own hourly samples. A bucket in which one of the chains has no sample is left out: no sum leaves a chain out.',
  fields: (t) => ({
    chainIds: t.field({
      type: ['ChainId'],
      description: `The chains that are added, at most ${MAX_CHAINS}.`,
      resolve: ({ chainIds }) => [...chainIds],
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the newest sample, of the chain where it is oldest; `null` = a chain has none, see `gaps`.',
    }),
    fromAt: t.field({
      type: 'DateTime',
      description: 'Begin of the range, included.',
      resolve: ({ range }) => range.fromMs,
    }),
    toAt: t.field({ type: 'DateTime', description: 'End of the range, excluded.', resolve: ({ range }) => range.toMs }),
    resolution: t.expose('resolution', {
      type: ResolutionRef,
      description: 'Width of the buckets; of several chains at least hours.',
    }),
    points: t.field({
      type: [PointRef],
      complexity: { field: 1, multiplier: 90 },
      description: `Points, oldest first; at most ${MAX_POINTS}.`,
      resolve: ({ points }) => [...points],
    }),
    gaps: t.field(gapsOf(({ gaps }) => gaps)),
  }),
});

builder.queryField('tvlHistory', (t) =>
  t.field({
    type: TvlHistoryRef,
    nullable: true,
    description: 'Total value in open positions over time, sampled every hour and kept for 400 days.',
    args: { chainIds: t.arg({ type: ['ChainId'], description: CHAINS }), ...historyArgs(t.arg, 'DAY') },
    resolve: (_root, args, ctx) => readTvlHistory(args, ctx),
  }),
);

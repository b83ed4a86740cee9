import { readStableIndex, type StableIndex, type StableIndexItem } from '../../resolvers/market/stable-index.ts';
import { MAX_INDEX_POOLS, MAX_POOL_POINTS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';
import { RatePointRef } from '../common/rate-point.ts';
import { FreshnessRef } from '../common/stamp.ts';

const PoolRef = builder.objectRef<StableIndexItem>('StableIndexPool').implement({
  description: 'One pool of the stablecoin yield index.',
  fields: (t) => ({
    poolId: t.string({ description: 'Id of the pool at the index.', resolve: ({ pool }) => pool.id }),
    assetSymbol: t.string({ description: 'Symbol of the asset.', resolve: ({ pool }) => pool.asset }),
    avg7dApyPct: t.field({
      type: 'Decimal',
      description: 'Mean APY of 7 days. Percent at full precision. Signed.',
      extensions: { jsonSchema: { exclusiveMinimum: -100, maximum: 1000 } },
      resolve: ({ pool }) => pool.avg7dPct,
    }),
    apyHistory: t.field({
      type: [RatePointRef],
      complexity: { field: 1, multiplier: 30 },
      description: `Daily APY, oldest first; at most ${MAX_POOL_POINTS} points of 400 days.`,
      resolve: ({ pool }) => [...pool.history],
    }),
    freshness: t.expose('stamp', { type: FreshnessRef, description: 'Age of the measurement of the pool.' }),
  }),
});

const StableIndexRef = builder.objectRef<StableIndex>('StableIndex').implement({
  description: 'The stablecoin yield index: one for all chains.',
  fields: (t) => ({
    freshness: t.expose('oldest', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the pool that was measured longest ago; `null` = none was ever measured, see `gaps`.',
    }),
    pools: t.expose('pools', {
      type: [PoolRef],
      complexity: { field: 1, multiplier: 10 },
      description: `Last good value of the pools, at most ${MAX_INDEX_POOLS}, the latest measured ones; empty until the first was measured.`,
    }),
    gaps: t.field(gapsOf(({ gaps }) => gaps)),
  }),
});

builder.queryField('stableIndex', (t) =>
  t.field({
    type: StableIndexRef,
    nullable: true,
    description: 'The stablecoin yield index at the last good values. Does not wait until a chain is ready.',
    resolve: (_root, _args, ctx) => readStableIndex(ctx),
  }),
);

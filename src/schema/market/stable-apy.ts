import { isStaleIn } from '../../resolvers/common/age.ts';
import { readStableApy, type StableApyItem, type StableApyList } from '../../resolvers/market/stable-apy.ts';
import { builder } from '../builder.ts';
import { RatePointRef } from '../common/rate-point.ts';
import { FreshnessRef } from '../common/stamp.ts';

const PoolRef = builder.objectRef<StableApyItem>('StableIndexPool').implement({
  description: 'One pool of the stablecoin yield index.',
  fields: (t) => ({
    id: t.string({ description: 'Id at the index.', resolve: ({ pool }) => pool.id }),
    asset: t.string({ description: 'Symbol of the asset.', resolve: ({ pool }) => pool.asset }),
    avg7dPct: t.field({
      type: 'Decimal',
      description: 'Mean APY of 7 days, percent.',
      resolve: ({ pool }) => pool.avg7dPct,
    }),
    history: t.field({
      type: [RatePointRef],
      complexity: { field: 1, multiplier: 30 },
      description: 'Daily APY, oldest first.',
      resolve: ({ pool }) => [...pool.history],
    }),
    freshness: t.expose('stamp', { type: FreshnessRef, description: 'Age of the pool.' }),
  }),
});

const ListRef = builder.objectRef<StableApyList>('StableApy').implement({
  description: 'The stablecoin yield index.',
  fields: (t) => ({
    asOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest pool was measured; `null` when none is known.',
      resolve: ({ oldest }) => oldest?.asOfMs ?? null,
    }),
    stale: t.boolean({
      description: 'Whether the oldest pool is past its budget, or none is known.',
      resolve: ({ oldest }, _args, ctx) => oldest === null || isStaleIn(oldest, ctx),
    }),
    items: t.expose('items', { type: [PoolRef], complexity: { field: 1, multiplier: 10 }, description: 'The pools.' }),
  }),
});

builder.queryField('stableApy', (t) =>
  t.field({
    type: ListRef,
    description: 'Stablecoin yields: the last good value, or an empty list marked stale. Never waits for readiness.',
    resolve: (_root, _args, ctx) => readStableApy(ctx),
  }),
);

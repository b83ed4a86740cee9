import { MAX_RANGE_DAYS } from '../../resolvers/market/histories.ts';
import { type LeveragedHistoryRow, readLeveragedHistory } from '../../resolvers/strategy/leveraged-history.ts';
import { withWork } from '../../shared/contract/work-costs.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';
import { RatePointRef } from '../common/rate-point.ts';
import { FreshnessRef } from '../common/stamp.ts';
import { StrategyRef } from '../refs.ts';

const LeveragedHistoryRef = builder.objectRef<LeveragedHistoryRow>('LeveragedApyHistory').implement({
  description:
    'Leveraged APY of one strategy over time, from the recorded rates of its markets. A day that lacks one of the rates, or on which an incentive is not known, is left out.',
  fields: (t) => ({
    strategyId: t.field({
      type: 'StrategyId',
      description: 'Id of the strategy.',
      resolve: ({ strategy }) => strategy.id,
    }),
    chainId: t.field({ type: 'ChainId', description: 'Id of the chain.', resolve: ({ strategy }) => strategy.chainId }),
    leverage: t.expose('leverage', {
      type: 'Decimal',
      description: 'Leverage of all points; of a vault 1 + LTV of the stock leg.',
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the older rate, in the range or not; `null` = one of them is not known, see `gaps`.',
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
    points: t.expose('points', {
      type: [RatePointRef],
      complexity: { field: 1, multiplier: 90 },
      description: `One point per UTC day, at its start, oldest first; at most ${MAX_RANGE_DAYS + 1}.`,
    }),
    gaps: t.field(gapsOf(({ gaps }) => gaps, 'Fields that are `null` or empty because a rate is not known')),
  }),
});

builder.interfaceField(StrategyRef, 'leveragedApyHistory', (t) =>
  t.field({
    type: LeveragedHistoryRef,
    nullable: true,
    complexity: withWork('leveragedApyHistory', 2),
    description:
      'Leveraged APY per UTC day, incentives of the day included. Percent. Of a loop collateral APY × L − net borrow APY × (L − 1); of a vault LTV × (leveraged APY of the yield leg at its safe LTV of today − net borrow APY of the stock leg).',
    args: {
      leverage: t.arg({
        type: 'Decimal',
        description:
          'Leverage of all points, 1 to the largest of the strategy; of a vault 1 + LTV of the stock leg. The default leverage, or the target LTV, when left out.',
      }),
      days: t.arg.int({
        description: `UTC days up to the present one, which counts: 1 to ${MAX_RANGE_DAYS}. Instead of \`fromAt\` and \`toAt\`.`,
      }),
      fromAt: t.arg({ type: 'DateTime', description: 'Begin, included; 90 days before `toAt` when left out.' }),
      toAt: t.arg({
        type: 'DateTime',
        description: `End, excluded; now when left out. At most ${MAX_RANGE_DAYS} days after \`fromAt\`.`,
      }),
    },
    resolve: (strategy, args, ctx) => readLeveragedHistory(strategy, args, ctx),
  }),
);

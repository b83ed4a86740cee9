import type { Strategy } from '../../domain/strategy/types.ts';
import { findStrategyOf } from '../../resolvers/strategy/strategies.ts';
import { MAX_LADDER_RUNGS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { defineNode } from '../common/node.ts';
import { ApySourceRef } from '../common/token.ts';
import { RateMeansRef } from '../market/market-facts.ts';
import { StrategyRef } from '../refs.ts';
import { LeverageRungRef, ProfileRef } from './strategy-parts.ts';

export const LoopStrategyRef = builder.objectRef<Strategy>('LoopStrategy');
defineNode(LoopStrategyRef, {
  key: ['chainId', 'strategyId'],
  keyOf: ({ chainId, id }) => [chainId, id],
  load: ([chainId, strategyId], ctx) => findStrategyOf('loop', { chainId, strategyId }, ctx),
});

LoopStrategyRef.implement({
  interfaces: [StrategyRef],
  description: 'Collateral bought with borrowed money, several times over, on one market.',
  fields: (t) => ({
    collateralApyPct: t.expose('collateralApyPct', {
      type: 'Decimal',
      description:
        'APY of the collateral without incentives, percent; 0 by contract when its source is `NONE`. Rates of different kinds are listed together: implied until maturity (`YIELD_MARKET`), the mean of 7 days (`STABLE_INDEX`, `INCENTIVE_MARKET`), the last day (`AGGREGATOR`), paid now (`ON_CHAIN`).',
    }),
    collateralApySource: t.expose('collateralApySource', {
      type: ApySourceRef,
      description: 'Source of the APY of the collateral; `NONE` also for a principal token past its maturity.',
    }),
    collateralApyMeans: t.expose('yieldSustainabilityPct', {
      type: RateMeansRef,
      nullable: true,
      description: 'Trailing means of the APY of the collateral; `null` = see `gaps`.',
    }),
    maxLeverage: t.expose('maxLeverage', { type: 'Decimal', description: 'Leverage at the maximum LTV, 1 place.' }),
    leverageLadder: t.expose('leverageLadder', {
      type: [LeverageRungRef],
      complexity: { field: 1, multiplier: 10 },
      description: `Steps 1, 2, ... and then the exact maximum; one per whole leverage up to \`maxLeverage\`, at most ${MAX_LADDER_RUNGS}.`,
    }),
    defaultLeverage: t.expose('defaultLeverage', {
      type: LeverageRungRef,
      description: 'Step at the safe LTV: the setting when a caller names none.',
    }),
    leverageApyMeans: t.expose('historicalLeverageApyPct', {
      type: RateMeansRef,
      nullable: true,
      description:
        'Trailing means of both rates, levered at the safe LTV of today. Each mean is over all days of the window that its rate has; the points of `leveragedApyHistory` are the days that both have. `null` = see `gaps`.',
    }),
    profile: t.field({
      type: ProfileRef,
      nullable: true,
      description: 'Reading of a strategy that is no carry trade; `null` = it is one, see `gaps`.',
      resolve: ({ spiralHints }) => spiralHints?.profile ?? null,
    }),
  }),
});

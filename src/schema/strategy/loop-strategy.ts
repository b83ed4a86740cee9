import type { Strategy } from '../../domain/strategy/types.ts';
import { findStrategyOf } from '../../resolvers/strategy/strategies.ts';
import { builder } from '../builder.ts';
import { defineNode } from '../common/node.ts';
import { ApySourceRef } from '../common/token.ts';
import { RateMeansRef } from '../market/market-facts.ts';
import { StrategyRef } from '../refs.ts';
import { ProfileRef } from './strategy-parts.ts';

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
        'APY of the collateral without incentives, percent; 0 by contract when it has no source. Rates of different kinds are listed together: implied until maturity (from a yield market), the mean of 7 days (from the stable index or an incentive market), the last day (from an aggregator), paid now (on chain). Signed.',
    }),
    collateralApySource: t.expose('collateralApySource', {
      type: ApySourceRef,
      description: 'Source of the APY of the collateral; `NONE` also for a principal token past its maturity.',
    }),
    collateralApyMeans: t.expose('yieldSustainabilityPct', {
      type: RateMeansRef,
      nullable: true,
      description: 'Trailing means of the APY of the collateral.',
    }),
    profile: t.field({
      type: ProfileRef,
      nullable: true,
      description: 'Reading of a strategy that is no carry trade; `null` = it is one, see `gaps`.',
      resolve: ({ spiralHints }) => spiralHints?.profile ?? null,
    }),
  }),
});

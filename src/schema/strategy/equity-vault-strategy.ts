import type { Strategy } from '../../domain/strategy/types.ts';
import { findStrategyOf, termsOf, yieldStrategyOf } from '../../resolvers/strategy/strategies.ts';
import { builder } from '../builder.ts';
import { defineNode } from '../common/node.ts';
import { ApySourceRef } from '../common/token.ts';
import { RateMeansRef } from '../market/market-facts.ts';
import { StrategyRef, TokenRef } from '../refs.ts';
import { LoopStrategyRef } from './loop-strategy.ts';

const EquityVaultStrategyRef = builder.objectRef<Strategy>('EquityVaultStrategy');
defineNode(EquityVaultStrategyRef, {
  key: ['chainId', 'strategyId'],
  keyOf: ({ chainId, id }) => [chainId, id],
  load: ([chainId, strategyId], ctx) => findStrategyOf('equity', { chainId, strategyId }, ctx),
});

EquityVaultStrategyRef.implement({
  interfaces: [StrategyRef],
  description:
    'An equity vault: a stock posted as collateral (the stock leg), and a loop on the loan against it (the yield leg). Borrow rates, liquidity, oracle and LTV limits are those of the stock leg.',
  fields: (t) => ({
    depositToken: t.field({
      type: TokenRef,
      description: 'Token that deposits are paid with.',
      resolve: (vault, _args, ctx) => termsOf(vault, ctx).depositToken,
    }),
    yieldStrategyId: t.field({
      type: 'StrategyId',
      description: 'Domain id of the strategy of the yield leg.',
      resolve: (vault, _args, ctx) => termsOf(vault, ctx).yieldStrategyId,
    }),
    yieldStrategy: t.field({
      type: LoopStrategyRef,
      nullable: true,
      description: 'Strategy of the yield leg; `null` = it cannot be composed yet.',
      resolve: (vault, _args, ctx) => yieldStrategyOf(vault, ctx),
    }),
    targetLtvPct: t.field({
      type: 'Decimal',
      description: 'LTV of the stock leg when a deposit names none. Percent with 2 places.',
      resolve: (vault, _args, ctx) => termsOf(vault, ctx).targetLtvPct,
    }),
    yieldLegApyPct: t.field({
      type: 'Decimal',
      description: 'Leveraged APY of the yield leg at its safe LTV. Percent with 2 places. Signed.',
      resolve: (vault, _args, ctx) => termsOf(vault, ctx).yieldLegApyPct,
    }),
    yieldLegApySource: t.expose('collateralApySource', {
      type: ApySourceRef,
      description: 'Source of the APY of the collateral of the yield leg.',
    }),
    yieldLegApyMeans: t.expose('yieldSustainabilityPct', {
      type: RateMeansRef,
      nullable: true,
      description: 'Trailing means of the leveraged APY of the yield leg.',
    }),
  }),
});

import { existingPageSize } from '../../resolvers/common/list-sizes.ts';
import { freshStrategies, freshStrategy } from '../../resolvers/strategy/strategies.ts';
import { builder } from '../builder.ts';
import { maxAgeArg } from '../common/fresh-args.ts';
import { CHAIN_OF_ID, measuredFields, missingFactsField, pageArgs } from '../common/page.ts';
import { StrategyRef } from '../refs.ts';
import { StrategyFilterRef, StrategyOrderRef } from './strategy-inputs.ts';

const StrategyConnectionRef = builder.connectionObject(
  {
    type: StrategyRef,
    name: 'StrategyConnection',
    description: 'A page of strategies.',
    fields: (t) => ({
      asOf: t.field(measuredFields.asOf),
      missingChains: t.field(measuredFields.missingChains),
      missingFacts: t.field(missingFactsField),
    }),
  },
  { name: 'StrategyEdge', description: 'A strategy and its place in the list.' },
);

builder.queryFields((t) => ({
  strategies: t.field({
    type: StrategyConnectionRef,
    nullable: true,
    complexity: (args, ctx) => ({
      field: 1,
      multiplier: existingPageSize({ ...args, chainIds: args.filter?.chainIds }, 'strategies', ctx),
    }),
    description:
      'Listed strategies of all chains, loops and equity vaults. A chain that is not measured yet is among `missingChains`; the error `not_ready` when that is so of every asked chain.',
    args: {
      filter: t.arg({ type: StrategyFilterRef, description: 'All given conditions must hold.' }),
      orderBy: t.arg({
        type: StrategyOrderRef,
        description: 'By `defaultApyPct`, largest first, when left out. Unknown values come last.',
      }),
      ...pageArgs(t.arg),
      ...maxAgeArg(t.arg),
    },
    resolve: (_root, args, ctx, info) => freshStrategies(args, ctx, info),
  }),
  strategy: t.field({
    type: StrategyRef,
    nullable: true,
    description: 'One strategy, listed or not. An unknown id is answered with the error `not_found`.',
    args: {
      strategyId: t.arg({ type: 'StrategyId', required: true, description: 'Domain id of the strategy.' }),
      chainId: t.arg({ type: 'ChainId', description: CHAIN_OF_ID }),
      ...maxAgeArg(t.arg),
    },
    resolve: (_root, args, ctx, info) => freshStrategy(args, ctx, info),
  }),
}));

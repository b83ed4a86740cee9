import type { LeftOutChain, MissingFacts } from '../../resolvers/market/chains.ts';
import { builder } from '../builder.ts';

export const LeftOutChainRef = builder.objectRef<LeftOutChain>('LeftOutChain').implement({
  description: 'A chain that a list goes without, because nothing of it was measured yet.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    waitingFor: t.exposeStringList('waitingFor', { description: 'Groups of facts that it waits for.' }),
  }),
});

const MissingStrategyRef = builder.objectRef<MissingFacts['strategies'][number]>('MissingStrategy').implement({
  description: 'A strategy, or a market of one, that is not in the list: a fact that it needs was never measured.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The id that it has once it is there.' }),
    symbol: t.exposeString('symbol', { description: 'Its symbols.' }),
    waitingFor: t.exposeStringList('waitingFor', { description: 'Groups of facts that it waits for.' }),
  }),
});

const MissingFactsRef = builder.objectRef<MissingFacts>('MissingFacts').implement({
  description: 'What a list goes without on one chain.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    groups: t.exposeStringList('groups', {
      description: 'Groups of facts of which nothing, or not everything, was asked yet.',
    }),
    strategies: t.expose('strategies', { type: [MissingStrategyRef], description: 'What is not in the list.' }),
  }),
});

builder.globalConnectionFields((t) => ({
  totalCount: t.int({ description: 'Entries that match, on all pages.', resolve: ({ totalCount }) => totalCount }),
  asOf: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When the oldest of the asked chains was last refreshed; `null` when none was asked.',
    resolve: ({ asOfMs }) => asOfMs,
  }),
  leftOut: t.field({
    type: [LeftOutChainRef],
    description:
      'Asked chains that are not in the list, because nothing of them was measured yet. When all are, the answer is the error `not_ready`.',
    resolve: ({ leftOut }) => leftOut ?? [],
  }),
  missing: t.field({
    type: [MissingFactsRef],
    description: 'What the list goes without, chain by chain: empty as soon as everything was measured once.',
    resolve: ({ missing }) => missing ?? [],
  }),
}));

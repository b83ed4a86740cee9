import type { LeftOutChain } from '../resolvers/chains.ts';
import { builder } from './builder.ts';

const LeftOutChainRef = builder.objectRef<LeftOutChain>('LeftOutChain').implement({
  description: 'A chain that a list goes without, because nothing of it was measured yet.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    waitingFor: t.exposeStringList('waitingFor', { description: 'Groups of facts that it waits for.' }),
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
}));

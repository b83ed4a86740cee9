import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../resolvers/common/page.ts';
import type { LeftOutChain, MissingChain, MissingFacts } from '../../resolvers/market/chains.ts';
import { builder } from '../builder.ts';
import { FactGroupRef } from './freshness.ts';

type ArgOf = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

/** Arguments of a connection, which pages in both directions. */
export function pageArgs(arg: ArgOf) {
  return {
    first: arg.int({
      description: `Most entries, from the beginning or after the cursor \`after\`: 1 to ${MAX_PAGE_SIZE}; ${DEFAULT_PAGE_SIZE} when neither \`first\` nor \`last\` is given.`,
    }),
    after: arg.string({ description: 'Cursor of this list: only entries that follow it.' }),
    last: arg.int({
      description: `Most entries, from the end or before the cursor \`before\`: 1 to ${MAX_PAGE_SIZE}. Not together with \`first\`.`,
    }),
    before: arg.string({ description: 'Cursor of this list: only entries that precede it.' }),
  };
}

const MissingChainReasonRef = builder.enumType('MissingChainReason', {
  description: 'Reason for an asked chain that is not in an answer.',
  values: {
    NOT_READY: { value: 'not_ready', description: 'Facts that the answer needs were never measured on the chain.' },
    UPSTREAM_UNAVAILABLE: { value: 'upstream_unavailable', description: 'No node of the chain gave a usable answer.' },
  } as const,
});

export const MissingChainRef = builder.objectRef<MissingChain>('MissingChain').implement({
  description: 'An asked chain that an answer goes without.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the missing chain.' }),
    reason: t.expose('reason', { type: MissingChainReasonRef, description: 'Kind of the failure.' }),
    message: t.exposeString('message', { description: 'One plain sentence for people, with the next step.' }),
    retryAfterSec: t.exposeInt('retryAfterSec', {
      nullable: true,
      description: 'Seconds after which asking again makes sense; `null` = not told.',
    }),
    waitingFor: t.field({
      type: [FactGroupRef],
      description:
        'Groups of facts that have to be measured first, each at most one time; empty for reasons other than `NOT_READY`.',
      resolve: ({ waitingFor }) => [...waitingFor],
    }),
  }),
});

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
    description:
      'Time of the latest refresh of the asked chain that was refreshed longest ago; `null` = no chain asked, or not told.',
    resolve: ({ asOfMs }) => asOfMs ?? null,
  }),
  missingChains: t.field({
    type: [MissingChainRef],
    complexity: { field: 1, multiplier: 1 },
    description:
      'Asked chains that are not in the list; at most one entry per served chain. When every asked chain is missing, the field is `null` with an error.',
    resolve: ({ missingChains }) => missingChains ?? [],
  }),
  leftOut: t.field({
    type: [LeftOutChainRef],
    description:
      'Asked chains that are not in the list, because nothing of them was measured yet. When all are, the answer is the error `not_ready`.',
    resolve: ({ leftOut }) => leftOut ?? [],
  }),
  missing: t.field({
    type: [MissingFactsRef],
    description: 'Facts that the listed chains go without; empty once everything was measured.',
    resolve: ({ missing }) => missing ?? [],
  }),
}));

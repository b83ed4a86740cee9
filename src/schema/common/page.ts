import { FACT_GROUPS } from '../../domain/facts.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../resolvers/common/page.ts';
import type { MissingChain, MissingFacts } from '../../resolvers/market/chains.ts';
import { MAX_CHAINS, MAX_STRATEGIES } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { FactGroupRef } from './fact-group.ts';

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

/** How the chains of a field are described. */
export const CHAINS = 'Only these chains; all served ones when left out.';

/** Of an optional `chainId` beside an id that names its chain. */
export const CHAIN_OF_ID =
  'Chain of the id, which names it already; another one is refused with the right one. Nothing changes when it is left out.';

const MissingChainReasonRef = builder.enumType('MissingChainReason', {
  description: 'Reason why an answer lacks a requested chain.',
  values: {
    NOT_READY: { value: 'not_ready', description: 'Facts that the answer needs were never measured on the chain.' },
    UPSTREAM_UNAVAILABLE: { value: 'upstream_unavailable', description: 'No node of the chain gave a usable answer.' },
  } as const,
});

export const MissingChainRef = builder.objectRef<MissingChain>('MissingChain').implement({
  description: 'A requested chain that an answer lacks.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain, which is missing.' }),
    reason: t.expose('reason', { type: MissingChainReasonRef, description: 'Kind of the failure.' }),
    message: t.exposeString('message', { description: 'One plain sentence for people, with the next step.' }),
    retryAfterSec: t.exposeInt('retryAfterSec', {
      nullable: true,
      description: 'Seconds after which another request makes sense; `null` = unknown.',
    }),
    waitingFor: t.field({
      type: [FactGroupRef],
      description: `Groups of facts that have to be measured first, at most ${FACT_GROUPS.length}; empty if the chain is left out for another reason.`,
      resolve: ({ waitingFor }) => [...waitingFor],
    }),
  }),
});

const MissingStrategyRef = builder.objectRef<MissingFacts['strategies'][number]>('MissingStrategy').implement({
  description: 'A strategy of the catalog that is in no list yet, because a fact that it needs was never measured.',
  fields: (t) => ({
    strategyId: t.expose('strategyId', {
      type: 'StrategyId',
      description: '`strategyId` of the strategy once it is listed.',
    }),
    symbol: t.exposeString('symbol', { description: 'Symbols of the tokens of the strategy.' }),
    waitingFor: t.field({
      type: [FactGroupRef],
      description: `Groups of facts that have to be measured first; at most ${FACT_GROUPS.length}.`,
      resolve: ({ waitingFor }) => [...waitingFor],
    }),
  }),
});

const MissingFactsRef = builder.objectRef<MissingFacts>('MissingFacts').implement({
  description: 'Facts and strategies of one listed chain that a list goes without.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    factGroups: t.field({
      type: [FactGroupRef],
      description: `Groups of facts that were not read yet, or not completely; at most ${FACT_GROUPS.length}.`,
      resolve: ({ groups }) => [...groups],
    }),
    strategies: t.expose('strategies', {
      type: [MissingStrategyRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Strategies that are not in the list; at most ${MAX_STRATEGIES}.`,
    }),
  }),
});

builder.globalConnectionFields((t) => ({
  totalCount: t.int({
    description: 'Number of entries that match, on all pages.',
    resolve: ({ totalCount }) => totalCount,
  }),
}));

/** Fields of a connection whose entries are measured, chain by chain. */
export const measuredFields = {
  asOf: {
    type: 'DateTime',
    nullable: true,
    description:
      'Time of the latest refresh of the requested chain that was refreshed longest ago; `null` = no chain requested, or unknown.',
    resolve: ({ asOfMs }: { readonly asOfMs?: number | null }) => asOfMs ?? null,
  },
  missingChains: {
    type: [MissingChainRef] as [typeof MissingChainRef],
    complexity: { field: 1, multiplier: 1 },
    description: `Requested chains that are not in the list; one entry per served chain, at most ${MAX_CHAINS}. When every requested chain is missing, the field is \`null\` with an error.`,
    resolve: ({ missingChains }: { readonly missingChains?: readonly MissingChain[] }) => missingChains ?? [],
  },
} as const;

/** Field of a connection whose entries are composed of facts. */
export const missingFactsField = {
  type: [MissingFactsRef] as [typeof MissingFactsRef],
  complexity: { field: 1, multiplier: 1 },
  description: `Facts that the listed chains go without; one entry per served chain, at most ${MAX_CHAINS}, and empty once everything was measured.`,
  resolve: ({ missingFacts }: { readonly missingFacts?: readonly MissingFacts[] }) => missingFacts ?? [],
} as const;

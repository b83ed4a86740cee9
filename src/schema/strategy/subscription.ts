import { noteSubject } from '../../resolvers/common/context.ts';
import {
  type StrategyChange,
  subjectOf,
  watchFreshness,
  watchStrategies,
} from '../../resolvers/strategy/subscriptions.ts';
import { MAX_STRATEGIES } from '../../shared/contract/list-bounds.ts';
import { type ChainId, EQUITY_PREFIX, encodeGlobalId, type StrategyId } from '../../shared/ids.ts';
import { builder } from '../builder.ts';
import { ChainRef } from '../common/chain.ts';
import { ChainFreshnessRef } from '../common/freshness.ts';
import { CHAINS } from '../common/page.ts';
import { StrategyRef } from '../refs.ts';
import { StrategyFilterRef } from './strategy-inputs.ts';

/** Entries of one event that the cost assumes: a quiet refresh changes a few strategies, a price move most of them. */
const EXPECTED_CHANGES = 20;

builder.subscriptionType({
  description:
    'Changes over server-sent events: `POST /graphql` with `Accept: text/event-stream`. A comment every 12 seconds keeps the connection open. An event is sent only if a selected field has changed, versions and times aside; its `id` resumes a broken connection as `Last-Event-ID`. Nothing is queued for a slow reader: it gets the newest state when it reads again, and is cut off when it stops reading.',
});

const ChainVersionRef = builder.inputType('ChainVersion', {
  description: 'A version of a chain that the reader has seen.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', required: true, description: 'The chain.' }),
    version: t.int({ required: true, description: '`version` of the last event of this chain.' }),
  }),
});

const StrategyChangeRef = builder.objectRef<StrategyChange>('StrategyChange').implement({
  description: 'Differences of one chain from the event before.',
  fields: (t) => ({
    chain: t.expose('chain', { type: ChainRef, description: 'The chain.' }),
    version: t.exposeInt('version', {
      description: 'Version of the facts; send it as `since` after a lost connection.',
    }),
    publishedAt: t.field({
      type: 'DateTime',
      description: 'Time of the publishing of this version.',
      resolve: ({ publishedMs }) => publishedMs,
    }),
    complete: t.exposeBoolean('complete', {
      description:
        'Whether `changed` has every strategy that matches: so in the first event, unless `since` is a version known here.',
    }),
    changed: t.expose('changed', {
      type: [StrategyRef],
      complexity: { field: 1, multiplier: EXPECTED_CHANGES },
      description: `Strategies that match the filter and of which a selected field differs, versions, times and ages aside; at most ${MAX_STRATEGIES}.`,
    }),
    removedIds: t.field({
      type: ['ID'],
      description: `Global ids of strategies that matched before and do not any more; of the same strategies as \`removedStrategyIds\`; at most ${MAX_STRATEGIES}.`,
      resolve: ({ chain, removed }) => removed.map((id) => strategyGlobalId(chain.chainId, id)),
    }),
    removedStrategyIds: t.expose('removed', {
      type: ['StrategyId'],
      description: `Domain ids of strategies that matched before and do not any more; at most ${MAX_STRATEGIES}.`,
    }),
  }),
});

builder.subscriptionFields((t) => ({
  strategyChanged: t.field({
    type: StrategyChangeRef,
    description:
      'Strategies as they change, chain by chain; a chain that is not measured yet from its first measurement on.',
    args: {
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
      filter: t.arg({ type: StrategyFilterRef, description: 'All given conditions must hold.' }),
      since: t.arg({
        type: [ChainVersionRef],
        description: 'Last received versions, one per chain: only differences from them are sent.',
      }),
    },
    subscribe: (_root, args, ctx) => watchStrategies(args, ctx),
    resolve: (change, _args, ctx) => {
      noteSubject(ctx, subjectOf(change));
      return change;
    },
  }),
  freshnessChanged: t.field({
    type: ChainFreshnessRef,
    description: 'The freshness of each chain, at first and whenever a group changes its state or its failures.',
    args: { chainIds: t.arg({ type: ['ChainId'], description: CHAINS }) },
    subscribe: (_root, args, ctx) => watchFreshness(args, ctx),
    resolve: (freshness, _args, ctx) => {
      const { version, chain } = freshness;
      noteSubject(ctx, { chainId: chain.chainId, version });
      return freshness;
    },
  }),
}));

/** Make the global id of a strategy that is not there any more: its domain id names its kind. */
function strategyGlobalId(chainId: ChainId, id: StrategyId): string {
  return encodeGlobalId(id.startsWith(EQUITY_PREFIX) ? 'EquityVaultStrategy' : 'LoopStrategy', `${chainId}:${id}`);
}

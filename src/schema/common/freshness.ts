import { APY_SOURCES } from '../../catalog/schema.ts';
import { MAX_DISAGREEMENTS } from '../../domain/deployment/disagreements.ts';
import { FACT_GROUPS, type FactGroup, type FailureReason } from '../../domain/facts.ts';
import type { ExcludedMarket } from '../../domain/market/types.ts';
import {
  type ChainFreshness,
  type FailingItem,
  type GroupFreshness,
  readFreshness,
} from '../../resolvers/common/freshness.ts';
import { readDisagreements } from '../../resolvers/market/deployment.ts';
import { MAX_CHAINS, MAX_MARKETS, MAX_STRATEGIES } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { ChainRef } from './chain.ts';
import { DisagreementRef } from './deployment.ts';
import { enumValues } from './enum-values.ts';
import { FactGroupRef } from './fact-group.ts';
import { CHAINS } from './page.ts';
import { FreshnessRef } from './stamp.ts';
import { ApySourceRef } from './token.ts';

const REASON_DESCRIPTIONS: Record<FailureReason, string> = {
  unreachable: 'The source could not be reached.',
  timeout: 'The source did not answer in time.',
  rate_limited: 'The source refused for too many requests.',
  throttled: 'Held back by our own limits on requests to the source, or on memory for its answers.',
  overloaded: 'The source is overloaded; an equal request may pass a moment later.',
  price_moved: 'The price moved between a quote and its build.',
  rejected: 'The source refused our request: its key, path or parameters are wrong.',
  server_error: 'The source failed.',
  malformed: 'The answer of the source could not be read.',
  missing: 'The answer of the source did not contain the item.',
  implausible: 'The value was implausible.',
  reverted: 'The read reverted on chain.',
  not_configured: 'No source is configured for the item.',
};

export const FailureReasonRef = builder.enumType('FailureReason', {
  description: 'Reason for a refresh without a result.',
  values: enumValues(REASON_DESCRIPTIONS),
});

const FailingItemRef = builder.objectRef<FailingItem>('FailingItem').implement({
  description: 'One item whose latest refresh failed.',
  fields: (t) => ({
    key: t.exposeString('key', {
      description: 'Market id, token or oracle address, pool id, or `contract`, depending on the group.',
    }),
    symbol: t.exposeString('symbol', {
      nullable: true,
      description: 'Symbol of the token or market behind the key; `null` = the key is of neither.',
    }),
    reason: t.field({
      type: FailureReasonRef,
      description: 'Reason of the failure.',
      resolve: ({ failure }) => failure.reason,
    }),
    source: t.string({
      description: 'Public name of the source that failed.',
      resolve: ({ failure }) => failure.source,
    }),
    since: t.field({
      type: 'DateTime',
      description: 'Time at which the failing began.',
      resolve: ({ failure }) => failure.sinceMs,
    }),
    lastGoodAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the measurement of the value that is still served; `null` = there is none.',
      resolve: ({ lastGoodMs }) => lastGoodMs,
    }),
  }),
});

const GroupRef = builder.objectRef<GroupFreshness>('FactGroupHealth').implement({
  description: 'State of one group of facts of a chain.',
  fields: (t) => ({
    group: t.expose('group', { type: FactGroupRef, description: 'Group of facts.' }),
    apySource: t.expose('source', {
      type: ApySourceRef,
      nullable: true,
      description:
        'Source of the APYs of a row of the group `COLLATERAL_APY`, where each source has its own budget; `null` = another group.',
    }),
    freshness: t.field({
      type: FreshnessRef,
      description: 'Age of the oldest item of the group, and the budget of the group.',
      resolve: ({ asOfMs, budgetSec, status }) => ({ asOfMs, staleAfterSec: budgetSec, status }),
    }),
    lastAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the latest refresh ended; `null` = none has ended yet.',
      resolve: ({ lastAttemptMs }) => lastAttemptMs,
    }),
    lastSuccessAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the latest refresh in which no item failed; `null` = there was none yet.',
      resolve: ({ lastSuccessMs }) => lastSuccessMs,
    }),
    itemCount: t.exposeInt('items', { description: 'Number of items with a value.' }),
    lastGoodCount: t.exposeInt('itemsAtLastGood', {
      description: 'Number of items that are served although their latest refresh failed.',
    }),
    failing: t.expose('failing', {
      type: [FailingItemRef],
      description: `Items whose latest refresh failed, one per token, market, oracle or pool, at most ${MAX_MARKETS}.`,
    }),
  }),
});

/** Pick the groups of facts out of names. */
function factGroups(names: readonly string[]): FactGroup[] {
  return names.filter((name): name is FactGroup => FACT_GROUPS.includes(name as FactGroup));
}

const WaitingRef = builder.objectRef<ExcludedMarket['waitingFor'][number]>('WaitingFor').implement({
  description: 'A group of facts that has to be measured before a market can be composed.',
  fields: (t) => ({
    group: t.field({
      type: FactGroupRef,
      nullable: true,
      description: 'Group of facts; `null` = the facts are there, and only their composition is running.',
      resolve: ({ group }) => factGroups([group])[0] ?? null,
    }),
    explanation: t.exposeString('reason', { description: 'Reason for the lack of a value, in a few words.' }),
  }),
});

const ExcludedRef = builder.objectRef<ExcludedMarket>('ExcludedMarket').implement({
  description: 'A market or equity vault of the catalog that cannot be composed yet.',
  fields: (t) => ({
    key: t.exposeString('marketId', { description: 'Market id, or strategy id of an equity vault.' }),
    symbol: t.exposeString('symbol', { description: 'Symbols of its tokens.' }),
    missingFacts: t.expose('waitingFor', {
      type: [WaitingRef],
      complexity: { field: 1, multiplier: 2 },
      description: `Facts that have to be measured first, one entry per group, at most ${FACT_GROUPS.length + 1}.`,
    }),
  }),
});

export const ChainFreshnessRef = builder.objectRef<ChainFreshness>('ChainHealth').implement({
  description: 'State of the facts of one chain.',
  fields: (t) => ({
    chain: t.expose('chain', { type: ChainRef, description: 'Chain of the facts.' }),
    primed: t.exposeBoolean('primed', {
      description: 'Whether market state and oracle values were measured at least once.',
    }),
    ready: t.exposeBoolean('ready', {
      description:
        'Whether market state and oracle values are measured and not far past their budgets, and every other group was tried or waited for.',
    }),
    waitingFor: t.field({
      type: [FactGroupRef],
      description: `Groups that readiness waits for, at most ${FACT_GROUPS.length}; empty when ready.`,
      resolve: ({ waitingFor }) => factGroups(waitingFor),
    }),
    version: t.exposeInt('version', { description: 'Version of the facts.' }),
    publishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time at which this version was published; `null` = nothing was published yet.',
      resolve: ({ publishedMs }) => publishedMs,
    }),
    groups: t.expose('groups', {
      type: [GroupRef],
      complexity: { field: 1, multiplier: 15 },
      description: `Every group, one entry per group and APY source, at most ${FACT_GROUPS.length + APY_SOURCES.length}.`,
    }),
    disagreements: t.field({
      type: [DisagreementRef],
      complexity: { field: 1, multiplier: 2 },
      description: `Facts of the catalog that the chain contradicts, one per token, market or contract and kind, at most ${MAX_DISAGREEMENTS}.`,
      resolve: ({ chain }, _args, ctx) => readDisagreements(chain, ctx),
    }),
    excluded: t.expose('excluded', {
      type: [ExcludedRef],
      description: `Markets and vaults that could not be composed, one entry per market or vault of the catalog, at most ${MAX_STRATEGIES}.`,
    }),
  }),
});

builder.queryField('freshness', (t) =>
  t.field({
    type: [ChainFreshnessRef],
    nullable: true,
    complexity: { field: 1, multiplier: 2 },
    description: `State of the facts per chain and group, with the items that are served at their last good value; one entry per chain, at most ${MAX_CHAINS}.`,
    args: { chainIds: t.arg({ type: ['ChainId'], description: CHAINS }) },
    resolve: (_root, args, ctx) => readFreshness(args, ctx),
  }),
);

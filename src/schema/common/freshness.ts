import { FACT_GROUPS, FAILURE_REASONS, type FailureReason } from '../../domain/facts.ts';
import type { ExcludedMarket } from '../../domain/market/types.ts';
import {
  type ChainFreshness,
  type FailingItem,
  type GroupFreshness,
  readFreshness,
} from '../../resolvers/common/freshness.ts';
import { readDisagreements } from '../../resolvers/market/deployment.ts';
import { builder } from '../builder.ts';
import { ChainRef } from './chain.ts';
import { DisagreementRef } from './deployment.ts';
import { FreshnessStatusRef } from './stamp.ts';
import { ApySourceRef } from './token.ts';

const GROUP_DESCRIPTIONS: Record<(typeof FACT_GROUPS)[number], string> = {
  lendingState: 'State of the lending markets, by market.',
  oracle: 'Oracle values, by oracle.',
  collateralApy: 'APY of collateral tokens, by token.',
  incentives: 'Running incentives, by market.',
  incentiveHistory: 'APR of incentives over time, by market.',
  price: 'USD prices, by token.',
  exitLiquidity: 'Exit quotes, by token.',
  sharedLiquidity: 'What the public allocator could bring, by market.',
  borrowHistory: 'Borrow APY over time, by market.',
  stableIndex: 'Pools of the stablecoin yield index, by pool.',
  tvl: 'Protocol TVL, one item.',
  deployment: 'What the deployed contract says of itself, one item.',
  marketSupport: 'What the deployed contract and the lending protocol say of a market, by market.',
  tokenContract: 'What token contracts say of themselves, by token.',
};

export const FactGroupRef = builder.enumType('FactGroup', {
  description: 'A group of facts that is refreshed together and has one budget.',
  values: Object.fromEntries(
    FACT_GROUPS.map((group) => [group, { value: group, description: GROUP_DESCRIPTIONS[group] }]),
  ) as { [G in (typeof FACT_GROUPS)[number]]: { value: G; description: string } },
});

const REASON_DESCRIPTIONS: Record<FailureReason, string> = {
  unreachable: 'The source could not be reached.',
  timeout: 'It did not answer in time.',
  rate_limited: 'It refused for too many requests.',
  overloaded: 'It said that it has too much to do; the same request may pass a moment later.',
  rejected: 'It refused the request.',
  server_error: 'It failed.',
  malformed: 'Its answer could not be read.',
  missing: 'Its answer did not contain the item.',
  implausible: 'The value was not believed.',
  reverted: 'The read reverted on chain.',
  not_configured: 'No source is configured for the item.',
};

const FailureReasonRef = builder.enumType('FailureReason', {
  description: 'Why the latest refresh of an item gave nothing.',
  values: Object.fromEntries(
    FAILURE_REASONS.map((reason) => [reason, { value: reason, description: REASON_DESCRIPTIONS[reason] }]),
  ) as { [R in FailureReason]: { value: R; description: string } },
});

const FailingItemRef = builder.objectRef<FailingItem>('FailingItem').implement({
  description: 'One item whose latest refresh failed.',
  fields: (t) => ({
    key: t.exposeString('key', {
      description: 'Market id, token or oracle address, pool id, or `contract`, depending on the group.',
    }),
    symbol: t.exposeString('symbol', {
      nullable: true,
      description: 'Token or market behind the key; `null` when it is neither.',
    }),
    reason: t.field({ type: FailureReasonRef, description: 'Why.', resolve: ({ failure }) => failure.reason }),
    source: t.string({
      description: 'Public name of the source that failed.',
      resolve: ({ failure }) => failure.source,
    }),
    since: t.field({
      type: 'DateTime',
      description: 'When the failing began.',
      resolve: ({ failure }) => failure.sinceMs,
    }),
    lastGood: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the value that is still served was measured; `null` = there is none.',
      resolve: ({ lastGoodMs }) => lastGoodMs,
    }),
  }),
});

const GroupRef = builder.objectRef<GroupFreshness>('GroupFreshness').implement({
  description: 'How old one group of facts is.',
  fields: (t) => ({
    group: t.expose('group', { type: FactGroupRef, description: 'The group.' }),
    apySource: t.expose('source', {
      type: ApySourceRef,
      nullable: true,
      description:
        'Of `collateralApy`: the source that this row is about; each has its own budget. `null` in other groups.',
    }),
    status: t.expose('status', { type: FreshnessStatusRef, description: 'Its state.' }),
    budgetSec: t.exposeInt('budgetSec', { description: 'Freshness budget in seconds.' }),
    asOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest item was measured; `null` without items.',
      resolve: ({ asOfMs }) => asOfMs,
    }),
    ageSec: t.exposeInt('ageSec', { nullable: true, description: 'Whole seconds since then; `null` without items.' }),
    lastAttempt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the latest refresh ended; `null` before the first.',
      resolve: ({ lastAttemptMs }) => lastAttemptMs,
    }),
    lastSuccess: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Latest refresh in which no item failed; `null` before the first.',
      resolve: ({ lastSuccessMs }) => lastSuccessMs,
    }),
    items: t.exposeInt('items', { description: 'Items with a value.' }),
    itemsAtLastGood: t.exposeInt('itemsAtLastGood', {
      description: 'Items that are served although their latest refresh failed.',
    }),
    failing: t.expose('failing', { type: [FailingItemRef], description: 'Every item whose latest refresh failed.' }),
  }),
});

const WaitingRef = builder.objectRef<ExcludedMarket['waitingFor'][number]>('WaitingFor').implement({
  description: 'What is missing before something can be composed.',
  fields: (t) => ({
    group: t.exposeString('group', { description: 'The group of facts.' }),
    reason: t.exposeString('reason', { description: 'Why it has none.' }),
  }),
});

const ExcludedRef = builder.objectRef<ExcludedMarket>('ExcludedMarket').implement({
  description: 'A market or equity vault of the catalog that cannot be composed yet.',
  fields: (t) => ({
    id: t.exposeString('marketId', { description: 'Market id, or id of the vault.' }),
    symbol: t.exposeString('symbol', { description: 'Symbols of its tokens.' }),
    waitingFor: t.expose('waitingFor', {
      type: [WaitingRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'What it waits for.',
    }),
  }),
});

export const ChainFreshnessRef = builder.objectRef<ChainFreshness>('ChainFreshness').implement({
  description: 'How old the facts of one chain are.',
  fields: (t) => ({
    chain: t.expose('chain', { type: ChainRef, description: 'The chain.' }),
    primed: t.exposeBoolean('primed', {
      description: 'Whether market state and oracle values were measured at least once.',
    }),
    ready: t.exposeBoolean('ready', { description: 'Whether they are not far past their budgets either.' }),
    waitingFor: t.exposeStringList('waitingFor', { description: 'Groups that readiness waits for; empty when ready.' }),
    version: t.exposeInt('version', { description: 'Version of the facts.' }),
    publishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When this version was published; `null` before the first.',
      resolve: ({ publishedMs }) => publishedMs,
    }),
    groups: t.expose('groups', {
      type: [GroupRef],
      complexity: { field: 1, multiplier: 15 },
      description: 'Every group.',
    }),
    disagreements: t.field({
      type: [DisagreementRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'What the catalog says and the chain says otherwise; empty when they agree.',
      resolve: ({ chain }, _args, ctx) => readDisagreements(chain, ctx),
    }),
    excluded: t.expose('excluded', {
      type: [ExcludedRef],
      description: 'What could not be composed, and what it waits for.',
    }),
  }),
});

builder.queryField('freshness', (t) =>
  t.field({
    type: [ChainFreshnessRef],
    complexity: { field: 1, multiplier: 2 },
    description: 'How old the facts are, per chain and group, and which items are served at their last good value.',
    args: { chainIds: t.arg({ type: ['ChainId'], description: 'Only of these chains; all when left out.' }) },
    resolve: (_root, args, ctx) => readFreshness(args, ctx),
  }),
);

import type { AppError } from '../../shared/errors.ts';
import { LIQUIDITY_PLACES } from '../../shared/vocabulary.ts';
import {
  type Alternative,
  INELIGIBILITIES,
  InsufficientLiquidityError,
  LimitExceededError,
  type LiquidityPlace,
  NoRouteError,
  NotEligibleError,
  PositionProxyError,
  SimulationMismatchError,
  SimulationRevertedError,
  StaleDataError,
  type VenueAnswer,
} from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { NamedValueRef, SwapSourceRef } from '../transaction/transaction.ts';

export const RefusalRef = builder.interfaceRef<AppError<unknown>>('Refusal').implement({
  description:
    'Why nothing was built. An expected answer, not an error: say the message to a person, decide on the type and on `retryable`.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'Stable code, the one that the REST envelope carries.' }),
    message: t.exposeString('message', { description: 'The value, the limit, and the next step.' }),
    retryable: t.exposeBoolean('retryable', { description: 'Whether the same request may pass later.' }),
    status: t.exposeInt('status', { description: 'HTTP status with which REST answers the same.' }),
  }),
});

/** Details are set by every class below: the base type alone leaves them open. */
export function detailsOf<D>(error: AppError<D>): D {
  if (error.details === undefined) throw new Error(`${error.name} carries no details`);
  return error.details;
}

builder.objectType(StaleDataError, {
  name: 'StaleDataRefusal',
  interfaces: [RefusalRef],
  description: 'Market state or the oracle value is past its freshness budget: nothing is built on it. Reads go on.',
  fields: (t) => ({
    group: t.string({ description: 'Group of facts that is too old.', resolve: (error) => detailsOf(error).group }),
    asOf: t.field({
      type: 'DateTime',
      description: 'When it was measured.',
      resolve: (error) => detailsOf(error).asOf,
    }),
    staleAfterSec: t.int({
      description: 'Freshness budget in seconds.',
      resolve: (error) => detailsOf(error).staleAfterSec,
    }),
    staleForSec: t.int({
      description: 'Seconds past the budget; 0 where the age itself is not known.',
      resolve: (error) => detailsOf(error).staleForSec,
    }),
    reference: t.string({
      nullable: true,
      description: "The oracle whose price is too old, or of unknown age; `null` = the service's own reading is.",
      resolve: (error) => detailsOf(error).reference ?? null,
    }),
    feed: t.field({
      type: 'Address',
      nullable: true,
      description: 'The feed behind that oracle which is past its heartbeat.',
      resolve: (error) => detailsOf(error).feed ?? null,
    }),
    deviationPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'How far a price of unknown age is from the USD prices of its tokens, percent.',
      resolve: (error) => detailsOf(error).deviationPct ?? null,
    }),
  }),
});

const VenueAnswerRef = builder.objectRef<VenueAnswer>('VenueAnswer').implement({
  description: 'What one swap venue said.',
  fields: (t) => ({
    source: t.expose('source', { type: SwapSourceRef, description: 'The venue.' }),
    answer: t.exposeString('reason', {
      description: '`no_route`, `implausible` when its quote was not believed, or the reason of its failure.',
    }),
  }),
});

builder.objectType(NoRouteError, {
  name: 'NoRouteRefusal',
  interfaces: [RefusalRef],
  description: 'No venue has a believable route for the pair at this size.',
  fields: (t) => ({
    tokenIn: t.field({ type: 'Address', description: 'What was to be sold.', resolve: (e) => detailsOf(e).tokenIn }),
    tokenOut: t.field({
      type: 'Address',
      description: 'What was to be bought.',
      resolve: (e) => detailsOf(e).tokenOut,
    }),
    amountIn: t.field({
      type: 'BigInteger',
      description: 'How much, base units of `tokenIn`.',
      resolve: (error) => BigInt(detailsOf(error).amountIn),
    }),
    venues: t.field({
      type: [VenueAnswerRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Every venue that was asked.',
      resolve: (error) => [...detailsOf(error).venues],
    }),
  }),
});

const PLACE_DESCRIPTIONS: Record<LiquidityPlace, string> = {
  market: 'What the market lends, with what a reallocation brings.',
  protocol: 'What the lending protocol holds of the token over all its markets: flash loans are taken out of it.',
};

const LiquidityPlaceRef = builder.enumType('LiquidityPlace', {
  description: 'Where liquidity falls short.',
  values: Object.fromEntries(
    LIQUIDITY_PLACES.map((place) => [place, { value: place, description: PLACE_DESCRIPTIONS[place] }]),
  ) as { [P in LiquidityPlace]: { value: P; description: string } },
});

builder.objectType(InsufficientLiquidityError, {
  name: 'InsufficientLiquidityRefusal',
  interfaces: [RefusalRef],
  description:
    'The market cannot lend what this borrows, not even with what the public allocator could bring, or the lending protocol does not hold what is out at the same time.',
  fields: (t) => ({
    needed: t.field({
      type: 'Decimal',
      description: 'What has to be there, whole loan tokens.',
      resolve: (error) => detailsOf(error).needed,
    }),
    available: t.field({
      type: 'Decimal',
      description: 'What is there now, whole loan tokens.',
      resolve: (error) => detailsOf(error).available,
    }),
    symbol: t.string({ description: 'The loan token.', resolve: (error) => detailsOf(error).symbol }),
    place: t.field({
      type: LiquidityPlaceRef,
      description: 'Where: a market, or the protocol.',
      resolve: (error) => detailsOf(error).place,
    }),
    marketId: t.field({
      type: 'MarketId',
      nullable: true,
      description: 'Which market, where it is one; `null` = the protocol.',
      resolve: (error) => detailsOf(error).marketId ?? null,
    }),
    maxAmount: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Largest `amount` that would do at everything else asked for, in its own token; `null` = the action takes no amount.',
      resolve: (error) => detailsOf(error).maxAmount ?? null,
    }),
    maxLeverage: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Highest `leverage` that would do, where the action takes no amount; `null` elsewhere.',
      resolve: (error) => detailsOf(error).maxLeverage ?? null,
    }),
    maxLtvPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The same as `desiredLtv`, percent; `null` where `maxLeverage` is.',
      resolve: (error) => detailsOf(error).maxLtvPct ?? null,
    }),
  }),
});

builder.objectType(LimitExceededError, {
  name: 'LimitExceededRefusal',
  interfaces: [RefusalRef],
  description: 'What was asked for lies above a limit. It is refused and never lowered.',
  fields: (t) => ({
    field: t.string({ description: 'The input that broke it.', resolve: (error) => detailsOf(error).field }),
    value: t.string({ description: 'What was asked for.', resolve: (error) => detailsOf(error).value }),
    limits: t.field({
      type: [NamedValueRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'The limits by name, e.g. `maxLeverage`, `maxLtvPct`, `maxAmount`.',
      resolve: (error) => Object.entries(detailsOf(error).limit).map(([name, value]) => ({ name, value })),
    }),
  }),
});

builder.objectType(SimulationRevertedError, {
  name: 'SimulationRevertedRefusal',
  interfaces: [RefusalRef],
  description:
    'The calls were executed on the newest state and their own logic reverted. `retryable` when a fresh quote may cure it.',
  fields: (t) => ({
    reason: t.string({
      description:
        'Name of the contract error, e.g. `FlashLeverage__MinTokenOutNotMet`; `unknown` when nothing decodes it.',
      resolve: (error) => detailsOf(error).reason,
    }),
    args: t.field({
      type: [NamedValueRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Its arguments.',
      resolve: (error) => [...detailsOf(error).args],
    }),
    cause: t.string({
      nullable: true,
      description: 'Why, in one sentence; `null` where nothing is known about the reason.',
      resolve: (error) => detailsOf(error).cause ?? null,
    }),
    nextStep: t.string({
      nullable: true,
      description: 'What to do about it; `null` where nothing is known about the reason.',
      resolve: (error) => detailsOf(error).nextStep ?? null,
    }),
    callIndex: t.int({
      description: 'Which call reverted, counted from 0: the approvals first, the transaction last.',
      resolve: (error) => detailsOf(error).callIndex,
    }),
  }),
});

const ShortfallRef = builder.enumType('SimulationShortfall', {
  description: 'What of a simulation fell short of its plan.',
  values: {
    SWAP_OUTPUT: { value: 'swap_output', description: 'The output of one swap.' },
    NET_VALUE: { value: 'net_value', description: 'The value of the position less its debt.' },
  } as const,
});

builder.objectType(SimulationMismatchError, {
  name: 'SimulationMismatchRefusal',
  interfaces: [RefusalRef],
  description:
    'The calls were executed on the newest state, quoted twice, and gave less than their quotes say. More than quoted is no fault.',
  fields: (t) => ({
    of: t.field({ type: ShortfallRef, description: 'What fell short.', resolve: (error) => detailsOf(error).of }),
    expected: t.field({
      type: 'Decimal',
      description: 'What was planned, whole tokens.',
      resolve: (error) => detailsOf(error).expected,
    }),
    simulated: t.field({
      type: 'Decimal',
      description: 'What the simulation ended with, whole tokens.',
      resolve: (error) => detailsOf(error).simulated,
    }),
    symbol: t.string({ description: 'The token of both numbers.', resolve: (error) => detailsOf(error).symbol }),
    tolerancePct: t.field({
      type: 'Decimal',
      description: 'Percent of `expected` that may be missing.',
      resolve: (error) => detailsOf(error).tolerancePct,
    }),
    source: t.field({
      type: SwapSourceRef,
      nullable: true,
      description: 'The venue; `null` = it is not about one swap.',
      resolve: (error) => detailsOf(error).source ?? null,
    }),
  }),
});

const INELIGIBILITY_DESCRIPTIONS: Record<(typeof INELIGIBILITIES)[number], string> = {
  matured: 'The principal token has matured.',
  near_maturity: 'The principal token matures too soon.',
  no_swap_route: 'The collateral has no swap route.',
  not_listed: 'The strategy is not offered.',
  off_peg: 'A stablecoin of the strategy is off its peg.',
  oracle_divergence: 'The oracle is far from the price of the collateral, or beyond what it can be worth.',
  not_equity_vault: 'The strategy is no equity vault.',
  market_closed: 'The contract is paused, or takes no new position on this market.',
  venue_not_allowed: 'The contract allows no router of the venues at which the collateral is traded.',
  operator_not_approved: 'The contract has not approved the router that the transaction would go through.',
  catalog_mismatch: 'What the catalog says of the strategy or of a token is otherwise on chain.',
  equity_vault: 'The loop belongs to an equity vault and is unwound with it.',
  position_closed: 'The position is closed.',
  position_liquidated: 'The position was liquidated.',
  manual_mode: 'The position is in manual mode: only its own wallet acts through the contract that holds it.',
  nothing_to_do: 'The position is there already, or owes nothing.',
};

const IneligibilityRef = builder.enumType('Ineligibility', {
  description: 'Why a strategy or position does not take an action.',
  values: Object.fromEntries(
    INELIGIBILITIES.map((reason) => [reason, { value: reason, description: INELIGIBILITY_DESCRIPTIONS[reason] }]),
  ) as { [I in (typeof INELIGIBILITIES)[number]]: { value: I; description: string } },
});

const AlternativeRef = builder.objectRef<Alternative>('ActionAlternative').implement({
  description: 'An action that leads to what was asked for, with its amount at the prices of now.',
  fields: (t) => ({
    action: t.string({
      description: 'Action to build instead: `repay`, `add_collateral` or `close`.',
      resolve: ({ action }) => action,
    }),
    amount: t.field({
      type: 'Decimal',
      description: 'Its amount, whole tokens.',
      resolve: ({ amount }) => amount,
    }),
    symbol: t.exposeString('symbol', { description: 'The token of the amount.' }),
    thenRepay: t.boolean({
      description: 'Whether what it pays out has to be repaid afterwards.',
      resolve: ({ thenRepay }) => thenRepay ?? false,
    }),
  }),
});

builder.objectType(NotEligibleError, {
  name: 'NotEligibleRefusal',
  interfaces: [RefusalRef],
  description: 'The strategy or position does not take this action.',
  fields: (t) => ({
    ineligibility: t.field({
      type: IneligibilityRef,
      description: 'Why.',
      resolve: (error) => detailsOf(error).reason,
    }),
    alternatives: t.field({
      type: [AlternativeRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Actions each of which leads to what was asked for; empty when none does.',
      resolve: (error) => [...(detailsOf(error).alternatives ?? [])],
    }),
    rule: t.string({
      nullable: true,
      description: 'The listing rule that decided, as `visibility { checks { name } }` names it; `null` = it is none.',
      resolve: (error) => detailsOf(error).rule ?? null,
    }),
    pointer: t.string({
      nullable: true,
      description: 'Where to go instead; `null` = nowhere.',
      resolve: (error) => detailsOf(error).pointer ?? null,
    }),
  }),
});

builder.objectType(PositionProxyError, {
  name: 'PositionProxyRefusal',
  interfaces: [RefusalRef],
  description: 'The address is the contract that holds a position. It cannot sign: send its owner instead.',
  fields: (t) => ({
    field: t.string({ description: 'The input that named it.', resolve: (error) => detailsOf(error).field }),
    proxy: t.field({ type: 'Address', description: 'The contract.', resolve: (error) => detailsOf(error).value }),
    owner: t.field({
      type: 'Address',
      description: 'The wallet whose position it holds.',
      resolve: (error) => detailsOf(error).owner,
    }),
    positionId: t.int({
      description: "Which of the owner's positions.",
      resolve: (error) => detailsOf(error).positionId,
    }),
  }),
});

/** Every refusal a builder may answer with, for the unions of the builders. */
export const REFUSALS = [
  StaleDataError,
  NoRouteError,
  InsufficientLiquidityError,
  LimitExceededError,
  SimulationRevertedError,
  SimulationMismatchError,
  NotEligibleError,
  PositionProxyError,
];

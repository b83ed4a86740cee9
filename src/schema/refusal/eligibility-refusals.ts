import { requireCatalogToken } from '../../resolvers/market/tokens.ts';
import { MAX_WALLET_POSITIONS } from '../../shared/contract/list-bounds.ts';
import { AmbiguousYieldLoopsError } from '../../transactions/equity/index.ts';
import {
  type Alternative,
  type Ineligibility,
  NotEligibleError,
  PositionProxyError,
} from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { TokenRef } from '../refs.ts';
import { ListingRuleRef } from '../strategy/visibility.ts';
import { detailsOf, RefusalRef } from './refusal.ts';

const IneligibilityRef = builder.enumType('Ineligibility', {
  description: 'The reason for which a strategy or position does not take an action.',
  values: enumValues<Ineligibility>({
    matured: 'The principal token has matured.',
    near_maturity: 'The principal token matures too soon.',
    no_swap_route: 'The collateral has no swap route.',
    not_listed: 'The strategy is not offered.',
    off_peg: 'A stablecoin of the strategy is off its peg.',
    oracle_divergence: 'The oracle is far from the price of the collateral, or outside the range of its kind of token.',
    equity_vault: 'The loop belongs to an equity vault and is unwound with it.',
    not_equity_vault: 'The strategy is no equity vault.',
    market_closed: 'The contract is paused, or takes no new position on this market.',
    venue_not_allowed: 'The contract allows no router of the venues at which the collateral is traded.',
    operator_not_approved: 'The contract has not approved the router that the transaction would go through.',
    catalog_mismatch: 'The catalog and the chain disagree on the strategy or on a token.',
    position_closed: 'The position is closed.',
    position_liquidated: 'The position was liquidated.',
    manual_mode: 'The position is in manual mode: only its own wallet acts through the contract that holds it.',
    nothing_to_do: 'The position is at the target already, or owes nothing, or the vault holds nothing.',
  }),
});

const AlternativeActionRef = builder.enumType('AlternativeAction', {
  description: 'An action of `ManageActionInput` that may be built in place of the refused one.',
  values: enumValues<Alternative['action']>({
    repay: 'Repay debt: `repay`.',
    add_collateral: 'Add collateral: `addCollateral`.',
    close: 'Sell a part of the collateral: `close`.',
  }),
});

const AlternativeRef = builder.objectRef<Alternative>('ActionAlternative').implement({
  description: 'An action with the same result as the refused one, with its amount at current prices.',
  fields: (t) => ({
    action: t.expose('action', { type: AlternativeActionRef, description: 'The action to build.' }),
    amount: t.field({
      type: 'Decimal',
      description: 'Amount of the action. Whole tokens.',
      resolve: ({ amount }) => amount,
    }),
    token: t.field({
      type: TokenRef,
      description: 'The token of the amount.',
      resolve: ({ token }, _args, ctx) => requireCatalogToken(token, ctx),
    }),
    thenRepay: t.boolean({
      description: 'Whether the proceeds have to be repaid afterwards.',
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
      description: 'The reason.',
      resolve: (error) => detailsOf(error).reason,
    }),
    alternatives: t.field({
      type: [AlternativeRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Actions each of which alone has the same result, one per kind, at most 3; empty when there is none.`,
      resolve: (error) => [...(detailsOf(error).alternatives ?? [])],
    }),
    rule: t.field({
      type: ListingRuleRef,
      nullable: true,
      description: 'The listing rule that decided; `null` = no listing rule did.',
      resolve: (error) => detailsOf(error).rule ?? null,
    }),
    pointer: t.string({
      nullable: true,
      description: 'The field of this schema to go to instead, e.g. `equityExitPlan`; `null` = there is none.',
      resolve: (error) => detailsOf(error).pointer ?? null,
    }),
  }),
});

builder.objectType(PositionProxyError, {
  name: 'PositionProxyRefusal',
  interfaces: [RefusalRef],
  description: 'The wallet is the contract that holds a position. It cannot sign: send its owner instead.',
  fields: (t) => ({
    field: t.string({
      description: 'Path of the input that named the contract.',
      resolve: (error) => detailsOf(error).field,
    }),
    proxy: t.field({
      type: 'Address',
      description: 'The contract that holds the position.',
      resolve: (error) => detailsOf(error).value,
    }),
    owner: t.field({
      type: 'Address',
      description: 'The wallet that owns the position.',
      resolve: (error) => detailsOf(error).owner,
    }),
    positionIndex: t.int({
      description: 'Index of the position among those of its owner.',
      resolve: (error) => detailsOf(error).positionId,
    }),
  }),
});

builder.objectType(AmbiguousYieldLoopsError, {
  name: 'AmbiguousYieldLoopsRefusal',
  interfaces: [RefusalRef],
  description: 'The chain does not show which loops belong to the vault: name the loops to close.',
  fields: (t) => ({
    field: t.string({
      description: 'Path of the input that has to be sent.',
      resolve: (error) => detailsOf(error).field,
    }),
    strategyId: t.field({
      type: 'StrategyId',
      description: 'The vault.',
      resolve: (error) => detailsOf(error).vaultId,
    }),
    yieldPositionIds: t.intList({
      description: `Indexes of the loops that may belong to the vault, ascending; one per loop of the wallet, at most ${MAX_WALLET_POSITIONS}.`,
      resolve: (error) => [...detailsOf(error).yieldPositionIds],
    }),
  }),
});

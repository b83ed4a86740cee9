import { MANAGE_ACTIONS } from '../../shared/vocabulary.ts';
import type { ManageAction } from '../../transactions/index.ts';
import { builder } from '../builder.ts';

const CHAIN = 'The chain; 1 when left out.';
const LEVERAGE = 'Target leverage, e.g. 5; this or `desiredLtv`.';
const LTV = 'Target LTV in percent; this or `leverage`.';
const SLIPPAGE = 'Ratio, 0.005 when left out; more than 0.01 is capped, zero and less are refused.';

const LOSS =
  'What all swaps and fees may cost together, percent of the equity; in place of the usual bounds of 1 % of what a swap takes in and 2 % of the equity. Up to 10.';
const LOSS_MANAGED =
  'What all swaps and fees may cost together, percent of the equity (of what is paid in where a token is swapped to add or to repay), in place of the usual bounds. Up to 10, and up to 50 with `close` and `repay`.';

const FLOOR_OPEN =
  'The least collateral that the swap of the pay token may give, whole tokens. Required where nothing here prices the pay token.';
const FLOOR_MANAGED =
  'The least that the swap of the action may give, whole tokens of its output; of a close all that the sale gives, the debt is repaid out of it. Required where nothing here prices the pair.';

export const PreviewInputRef = builder.inputType('LeveragePreviewInput', {
  description: 'What to open.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: CHAIN }),
    strategyId: t.field({ type: 'StrategyId', required: true, description: 'Market id from the strategies.' }),
    payToken: t.field({
      type: 'Address',
      required: true,
      description: 'What is paid with: the collateral, or any token; the zero address is the native token.',
    }),
    amount: t.field({ type: 'Decimal', required: true, description: 'How much of it, whole tokens. Never rounded.' }),
    leverage: t.field({ type: 'Decimal', description: LEVERAGE }),
    desiredLtv: t.field({ type: 'Decimal', description: LTV }),
    slippage: t.field({ type: 'Decimal', description: SLIPPAGE }),
    maxSwapLossPct: t.field({ type: 'Decimal', description: LOSS }),
    minAmountOut: t.field({ type: 'Decimal', description: FLOOR_OPEN }),
  }),
});

export const OpenInputRef = builder.inputType('OpenLeverageInput', {
  description: 'What to open, and who signs.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: CHAIN }),
    strategyId: t.field({ type: 'StrategyId', required: true, description: 'Market id from the strategies.' }),
    payToken: t.field({
      type: 'Address',
      required: true,
      description: 'What is paid with: the collateral, or any token; the zero address is the native token.',
    }),
    amount: t.field({ type: 'Decimal', required: true, description: 'How much of it, whole tokens. Never rounded.' }),
    leverage: t.field({ type: 'Decimal', description: LEVERAGE }),
    desiredLtv: t.field({ type: 'Decimal', description: LTV }),
    slippage: t.field({ type: 'Decimal', description: SLIPPAGE }),
    maxSwapLossPct: t.field({ type: 'Decimal', description: LOSS }),
    minAmountOut: t.field({ type: 'Decimal', description: FLOOR_OPEN }),
    userAddress: t.field({
      type: 'Address',
      required: true,
      description: 'The wallet that signs and owns the position.',
    }),
  }),
});

const ACTION_DESCRIPTIONS: Record<ManageAction, string> = {
  close: 'Sell all collateral, or `amount` of it, repay the debt, pay the rest out.',
  increase_leverage: 'Borrow more and swap it into collateral. Takes `leverage` or `desiredLtv`.',
  add_collateral: 'Add collateral. Takes `amount` and `payToken`.',
  remove_collateral: 'Take collateral out, up to the safe LTV. Takes `amount`, of the collateral.',
  repay: 'Repay debt. Takes `payToken` and `amount`, or `full: true`.',
  borrow: 'Borrow more to the wallet, up to the safe LTV. Takes `amount`, of the loan token.',
};

const ManageActionRef = builder.enumType('ManageAction', {
  description: 'What to do with a position.',
  values: Object.fromEntries(
    MANAGE_ACTIONS.map((action) => [action, { value: action, description: ACTION_DESCRIPTIONS[action] }]),
  ) as { [A in ManageAction]: { value: A; description: string } },
});

export const ManageInputRef = builder.inputType('ManagePositionInput', {
  description: 'Which position, and what to do. A field that the action does not take is refused.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: CHAIN }),
    userAddress: t.field({ type: 'Address', required: true, description: 'The wallet that owns it and signs.' }),
    id: t.int({ required: true, description: 'Index of the position on chain, as `positions` lists it.' }),
    action: t.field({ type: ManageActionRef, required: true, description: 'What to do.' }),
    amount: t.field({
      type: 'Decimal',
      description: 'How much, whole tokens of what the action names. Never rounded.',
    }),
    payToken: t.field({ type: 'Address', description: 'What is paid with; the zero address is the native token.' }),
    full: t.boolean({ description: 'With `repay` only: the whole debt, by shares, so that no dust is left.' }),
    leverage: t.field({ type: 'Decimal', description: LEVERAGE }),
    desiredLtv: t.field({ type: 'Decimal', description: LTV }),
    slippage: t.field({ type: 'Decimal', description: SLIPPAGE }),
    maxSwapLossPct: t.field({ type: 'Decimal', description: LOSS_MANAGED }),
    minAmountOut: t.field({ type: 'Decimal', description: FLOOR_MANAGED }),
    allowUnsimulated: t.boolean({
      description:
        'Whether it is built without having been tried out where no node of the chain can do that; it then carries the issue `NOT_SIMULATED`. Holds for close, repay and add_collateral: what adds risk is refused meanwhile.',
    }),
  }),
});

import { builder } from '../builder.ts';

export const SLIPPAGE = (byDefault: number) =>
  `Slippage that the swaps may have, basis points; ${byDefault} when left out. Above 100 it is refused.`;
export const ALLOW_UNSIMULATED =
  'Whether an action that lowers risk is built without a simulation while no node of the chain can simulate; it then carries the issue `NOT_SIMULATED`. Actions that add risk are refused meanwhile.';

export const EXACT =
  'Whether the calls name the amount of collateral that was read, so that collateral that a stranger adds meanwhile cannot make them revert: it stays in the position. Without it they sell all that is there when they are executed.';

const TargetRef = builder.inputType('LeverageTargetInput', {
  description: 'The target of a position, by leverage or by LTV.',
  isOneOf: true,
  fields: (t) => ({
    leverage: t.field({ type: 'Decimal', description: 'Target leverage, e.g. 5.' }),
    ltvPct: t.field({ type: 'Decimal', description: 'Target LTV in percent, e.g. 80.' }),
  }),
});

export const OpenLeverageInputRef = builder.inputType('OpenLeverageInput', {
  description: 'A leveraged position to open.',
  fields: (t) => ({
    strategyId: t.field({ type: 'StrategyId', required: true, description: 'Id of a loop strategy: its market id.' }),
    payToken: t.field({
      type: 'Address',
      required: true,
      description: 'Token to pay with: the collateral, or any token; the zero address is the native token.',
    }),
    amount: t.field({
      type: 'Decimal',
      required: true,
      description: 'Amount to pay, whole tokens of `payToken`. Never rounded.',
    }),
    target: t.field({ type: TargetRef, required: true, description: 'Leverage or LTV of the position.' }),
    maxSlippageBps: t.field({ type: 'Decimal', description: SLIPPAGE(50) }),
    maxSwapLossPct: t.field({
      type: 'Decimal',
      description:
        'Bound of the cost of all swaps and fees together, percent of the equity, in place of the usual bounds of 1 % of the input of a swap and 2 % of the equity. Up to 10.',
    }),
    minAmountOut: t.field({
      type: 'Decimal',
      description:
        'Least output of the swap of the pay token, whole collateral tokens. Required where nothing here prices the pay token.',
    }),
  }),
});

const PAY_TOKEN = 'Token to pay with; the zero address is the native token.';

const CloseRef = builder.inputType('CloseInput', {
  description: 'Sell collateral, repay the debt with it and pay the rest out.',
  fields: (t) => ({
    amount: t.field({
      type: 'Decimal',
      description: 'Part of the collateral to sell, whole tokens; all of it, with the whole debt, when left out.',
    }),
    exact: t.boolean({ description: EXACT }),
  }),
});

const PaidAmountRef = builder.inputType('PaidAmountInput', {
  description: 'An amount of a token that the wallet pays.',
  fields: (t) => ({
    payToken: t.field({ type: 'Address', required: true, description: PAY_TOKEN }),
    amount: t.field({
      type: 'Decimal',
      required: true,
      description: 'Amount to pay, whole tokens of `payToken`. Never rounded.',
    }),
  }),
});

const RepayAllRef = builder.inputType('RepayAllInput', {
  description: 'Repay the whole debt, by shares, so that no dust is left.',
  fields: (t) => ({
    payToken: t.field({ type: 'Address', description: `${PAY_TOKEN} The loan token when left out.` }),
    amount: t.field({
      type: 'Decimal',
      description:
        'Amount to pay, whole tokens of `payToken`, never rounded; the part that the debt does not need is returned, and less than the whole debt needs is refused with an amount that is enough. Sized by the debt when left out.',
    }),
  }),
});

const AmountRef = builder.inputType('AmountInput', {
  description: 'An amount of the token that the action names.',
  fields: (t) => ({
    amount: t.field({ type: 'Decimal', required: true, description: 'Whole tokens. Never rounded.' }),
  }),
});

const ManageActionRef = builder.inputType('ManageActionInput', {
  description: 'An action on a position.',
  isOneOf: true,
  fields: (t) => ({
    close: t.field({ type: CloseRef, description: 'Close the position, or sell a part of its collateral.' }),
    increaseLeverage: t.field({ type: TargetRef, description: 'Borrow more and swap it into collateral.' }),
    addCollateral: t.field({ type: PaidAmountRef, description: 'Add collateral, paid with any token.' }),
    removeCollateral: t.field({
      type: AmountRef,
      description: 'Take collateral out, up to the safe LTV; the amount is in collateral tokens.',
    }),
    repay: t.field({ type: PaidAmountRef, description: 'Repay a part of the debt, paid with any token.' }),
    repayAll: t.field({ type: RepayAllRef, description: 'Repay the whole debt.' }),
    borrow: t.field({
      type: AmountRef,
      description: 'Borrow more to the wallet, up to the safe LTV; the amount is in loan tokens.',
    }),
  }),
});

export const ManageLeverageInputRef = builder.inputType('ManageLeverageInput', {
  description: 'A position, and the action on it.',
  fields: (t) => ({
    position: t.field({
      type: 'PositionId',
      required: true,
      description: 'Id of the position, with its chain. A global id names the wallet too: another `wallet` is refused.',
    }),
    action: t.field({ type: ManageActionRef, required: true, description: 'The action.' }),
    maxSlippageBps: t.field({ type: 'Decimal', description: SLIPPAGE(50) }),
    maxSwapLossPct: t.field({
      type: 'Decimal',
      description:
        'Bound of the cost of all swaps and fees together, percent of the equity (of the amount paid in where a token is swapped to add or to repay), in place of the usual bounds. Up to 10, up to 50 with `repay` and `repayAll`, and up to 100 with `close`.',
    }),
    minAmountOut: t.field({
      type: 'Decimal',
      description:
        'Least output of the swap of the action, whole tokens of its output; of a close the whole proceeds of the sale, out of which the debt is repaid. Required where nothing here prices the pair; refused where nothing is swapped.',
    }),
    allowUnsimulated: t.boolean({ description: ALLOW_UNSIMULATED }),
  }),
});

export type OpenArgs = typeof OpenLeverageInputRef.$inferInput;
export type ManageArgs = typeof ManageLeverageInputRef.$inferInput;

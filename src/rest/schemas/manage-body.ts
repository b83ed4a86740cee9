import { z } from 'zod';
import { MANAGE_ACTIONS } from '../../shared/names.ts';
import { includedParts } from './plan.ts';
import {
  amountText,
  anyTarget,
  paidAddressText,
  positionChainId,
  positionIdText,
  positionIndex,
  slippageNumber,
  swapLossNumber,
  targetForms,
} from './transactions.ts';

/** The limit of the losses of swaps, which is higher for actions that take risk back. */
const maxSwapLoss = (max: 10 | 50 | 100) =>
  swapLossNumber(
    'Maximum cost of all swaps and fees together, percent of the equity (of the payment if a token is swapped to add or to repay). Replaces the usual limits.',
    max,
  );

/** The fields of manage/build by their names in the contract. */
function fieldsOf(chainIds: readonly number[]) {
  return {
    userAddress: paidAddressText('The signing wallet, which owns the position.'),
    id: positionIndex
      .optional()
      .describe('Index of the position on chain, from the positions endpoint; this or positionId.'),
    positionId: positionIdText.optional(),
    amount: amountText('Amount in whole tokens of the token of the action.'),
    payToken: paidAddressText('Token of the payment; ETH is the zero address.'),
    slippage: slippageNumber(0.005),
    maxSwapLossPct: maxSwapLoss(100),
    minAmountOut: amountText(
      "Minimum output of the action's swap, whole tokens; for a close all proceeds, from which the debt is repaid. Required if the service has no price for the pair.",
    ).optional(),
    allowUnsimulated: z
      .boolean()
      .optional()
      .describe(
        'Whether it is built without simulation if no node of the chain can simulate; its instructions then say NOT_SIMULATED. Applies to close, repay and add_collateral; actions that add risk are refused.',
      ),
    exact: z
      .boolean()
      .optional()
      .describe(
        'close only: name the amount of collateral that was read, so that collateral that a stranger adds meanwhile cannot make it revert: it stays in the position.',
      ),
    include: includedParts,
    chainId: positionChainId(chainIds),
  };
}

/** All fields of all actions together. Which of them an action takes is checked afterwards. */
export function manageBody(chainIds: readonly number[]) {
  const { amount, payToken, ...fields } = fieldsOf(chainIds);
  return z.strictObject({
    ...fields,
    action: z.enum(MANAGE_ACTIONS).describe('The action.'),
    amount: amount.optional(),
    payToken: payToken.optional(),
    full: z.boolean().optional().describe('repay only: repay the entire remaining debt.'),
    ...anyTarget,
  });
}

/** The body by action, each with the fields that it takes. */
export function manageForms(chainIds: readonly number[]): z.ZodType {
  const { userAddress, id, positionId, chainId, slippage, include, ...fields } = fieldsOf(chainIds);
  const { amount, payToken, maxSwapLossPct, minAmountOut, allowUnsimulated, exact } = fields;
  const full = z.literal(false).optional().describe('As when left out: only repay takes true.');
  const frame = { userAddress, id, positionId, chainId, slippage, full, include };
  const leaving = { maxSwapLossPct, minAmountOut };
  const repaying = { maxSwapLossPct: maxSwapLoss(50), minAmountOut };
  const adding = { maxSwapLossPct: maxSwapLoss(10), minAmountOut };
  const form = <A extends (typeof MANAGE_ACTIONS)[number]>(
    name: string,
    description: string,
    action: A,
    taken: Readonly<Record<string, z.ZodType>>,
  ) =>
    z
      .strictObject({ ...frame, action: z.literal(action).describe('The action.'), ...taken })
      .meta({ id: name, description });
  const part = amount
    .optional()
    .describe('Amount of the collateral to sell, whole tokens; all of it when left out. Above 0.');
  return z
    .xor([
      form('CloseBody', 'Close the position, or a part of it.', 'close', {
        amount: part,
        exact,
        ...leaving,
        allowUnsimulated,
      }),
      form('IncreaseToLeverageBody', 'Increase to a leverage.', 'increase_leverage', {
        ...targetForms.leverage,
        ...adding,
      }),
      form('IncreaseToLtvBody', 'Increase to an LTV.', 'increase_leverage', { ...targetForms.ltv, ...adding }),
      form('AddCollateralBody', 'Add collateral.', 'add_collateral', { amount, payToken, ...adding, allowUnsimulated }),
      form('RemoveCollateralBody', 'Withdraw collateral.', 'remove_collateral', { amount }),
      form('RepayBody', 'Repay a part of the debt.', 'repay', { amount, payToken, ...repaying, allowUnsimulated }),
      form('RepayAllBody', 'Repay the entire debt.', 'repay', {
        full: z.literal(true).describe('The entire remaining debt.'),
        amount: amount
          .optional()
          .describe(
            'Amount of the payment, whole tokens, not less than the debt needs; computed when left out. Above 0.',
          ),
        payToken: payToken.optional().describe('Token of the payment; the loan token when left out.'),
        ...repaying,
        allowUnsimulated,
      }),
      form('BorrowBody', 'Borrow more.', 'borrow', { amount }),
    ])
    .meta({
      id: 'ManageBuildBody',
      description: 'JSON, at most 64 KiB: the fields of one action. Exactly one of positionId and id.',
    });
}

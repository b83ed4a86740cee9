import { depositFeeOf } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import { buildApprovals } from '../build/approvals.ts';
import { swapDataOf } from '../build/call.ts';
import { buildSupplyCollateral } from '../build/flash-leverage.ts';
import { buildSwapAndSupplyCollateral } from '../build/flash-leverage-router.ts';
import { referralFeeBps } from '../deps.ts';
import { baseUnits } from '../input.ts';
import { formatAmount } from '../messages.ts';
import { contractFees } from '../preview/costs.ts';
import { previewPosition } from '../preview/position.ts';
import { requireLossWithin } from '../quote/bounds.ts';
import { worstOutput } from '../quote/planned.ts';
import { heldSlippage } from '../quote/slippage.ts';
import { payTokenOf } from '../read/tokens.ts';
import { quoteAction } from './swap.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** Add collateral, swapped from any token where it is not the collateral itself. */
export async function addCollateral(context: ManageContext): Promise<VerbDraft> {
  const { chain, market, position, live, input, payToken: token, rates, wallet } = context;
  if (!token || !input.amount) throw new Error('the fields of add_collateral were not checked');
  const { contracts } = chain;
  const amount = baseUnits(input.amount, token);
  const positionId = BigInt(position.id);
  const { depositFee } = context.deployment;
  const after = (added: bigint) => ({
    collateral: position.collateral + added - depositFeeOf(added, depositFee),
    debt: position.debt,
  });
  const basis = (added: bigint) =>
    position.basis + collateralValueInLoan(added - depositFeeOf(added, depositFee), live.price);
  const fees = (added: bigint) => contractFees('DEPOSIT_FEE', depositFeeOf(added, depositFee), market, live.price);
  const feeNote = (added: bigint) =>
    depositFee === 0n
      ? []
      : [
          `The contract takes ${formatAmount(depositFeeOf(added, depositFee), market.collateral)} of it as its deposit fee.`,
        ];
  const approvals = (spender: typeof contracts.flashLeverage) =>
    buildApprovals({ token, spender, amount, allowance: wallet.allowances.get(spender) ?? 0n });
  if (token.address === market.collateral.address) {
    return {
      path: 'supplyCollateral',
      approvals: approvals(contracts.flashLeverage),
      tx: buildSupplyCollateral(contracts, { user: input.user, positionId, amountCollateral: amount }),
      swaps: [],
      pays: { token, amount },
      fees: fees(amount),
      preview: previewPosition({ price: live.price, after: after(amount), basis: basis(amount), rates }),
      notes: feeNote(amount),
    };
  }
  const { swap, before, issues } = await quoteAction(context, {
    tokenIn: token,
    tokenOut: payTokenOf(market.collateral),
    amountIn: amount,
    executor: contracts.flashLeverageRouter,
    feeBps: referralFeeBps(context.deps, market),
  });
  requireLossWithin({
    swaps: [{ swap, outPrice: live.price }],
    // What is paid in: of the whole position a small payment could lose everything.
    equity: collateralValueInLoan(swap.reference ?? swap.expectedOut, live.price),
    boundsTotal: false,
    maxSwapLossPct: context.maxSwapLossPct,
    largestPct: context.largestPct,
    requested: { field: 'amount', value: formatUnitsPlain(amount, token.decimals) },
  });
  return {
    path: 'swapAndSupplyCollateral',
    approvals: approvals(contracts.flashLeverageRouter),
    tx: buildSwapAndSupplyCollateral(contracts, {
      user: input.user,
      positionId,
      marketId: market.id,
      tokenIn: token.address,
      amountIn: amount,
      swapData: swapDataOf(swap),
      minTokenOut: swap.minOut,
    }),
    swaps: [swap],
    pays: { token, amount },
    fees: fees(swap.expectedOut),
    conclude: ({ fills }) => ({ fees: fees(fills.at(-1)?.received ?? swap.expectedOut) }),
    preview: previewPosition({
      price: live.price,
      after: after(swap.expectedOut),
      worst: after(worstOutput(swap)),
      basis: basis(swap.expectedOut),
      rates,
      ...context.impactOf(swap),
    }),
    notes: [
      `All of it, about ${formatAmount(swap.expectedOut, market.collateral)}, becomes collateral.`,
      ...feeNote(swap.expectedOut),
    ],
    slippage: heldSlippage(context.slippage, [{ before, after: swap }]),
    issues,
  };
}

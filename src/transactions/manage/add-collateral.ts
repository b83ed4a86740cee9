import { depositFeeOf } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { swapDataOf } from '../build/call.ts';
import { buildSupplyCollateral } from '../build/flash-leverage.ts';
import { buildSwapAndSupplyCollateral } from '../build/flash-leverage-router.ts';
import { referralFeeBps } from '../deps.ts';
import { baseUnits } from '../input.ts';
import { formatAmount } from '../messages.ts';
import { contractFees } from '../preview/costs.ts';
import { previewPosition } from '../preview/position.ts';
import { worstOutput } from '../quote/planned.ts';
import { payTokenOf } from '../read/tokens.ts';
import { depositFeeNote, payDirectly, paySwapped } from './paid.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** Add collateral, swapped from any token where it is not the collateral itself. */
export async function addCollateral(context: ManageContext): Promise<VerbDraft> {
  const { chain, market, position, live, input, payToken: token, rates, deployment } = context;
  if (!token || !input.amount) throw new Error('the fields of add_collateral were not checked');
  const { contracts } = chain;
  const { collateral } = market;
  const amount = baseUnits(input.amount, token);
  const target = { user: input.user, positionId: BigInt(position.id) };
  const feeOf = (added: bigint) => depositFeeOf(added, deployment.depositFee);
  const feesOf = (added: bigint) => contractFees('DEPOSIT_FEE', feeOf(added), market, live.price);
  const after = (added: bigint) => ({
    collateral: position.collateral + added - feeOf(added),
    debt: position.debt,
  });
  const expected = (added: bigint) => ({
    price: live.price,
    after: after(added),
    basis: position.basis + collateralValueInLoan(added - feeOf(added), live.price),
    rates,
  });
  if (token.address === collateral.address) {
    return {
      path: 'supplyCollateral',
      ...payDirectly(context, token, amount, contracts.flashLeverage),
      amounts: { token, smallest: 1n, largest: 'unlimited' },
      tx: buildSupplyCollateral(contracts, { ...target, amountCollateral: amount }),
      fees: feesOf(amount),
      preview: previewPosition(expected(amount)),
      notes: depositFeeNote(feeOf(amount), collateral),
    };
  }
  const { swap, draft } = await paySwapped(context, {
    tokenIn: token,
    tokenOut: payTokenOf(collateral),
    amountIn: amount,
    feeBps: referralFeeBps(context.deps, market),
    outPrice: live.price,
    feesOf,
  });
  return {
    ...draft,
    path: 'swapAndSupplyCollateral',
    tx: buildSwapAndSupplyCollateral(contracts, {
      ...target,
      marketId: market.id,
      tokenIn: token.address,
      amountIn: amount,
      swapData: swapDataOf(swap),
      minTokenOut: swap.minOut,
    }),
    preview: previewPosition({
      ...expected(swap.expectedOut),
      worst: after(worstOutput(swap)),
      ...context.impactOf(swap),
    }),
    notes: [
      `All of it, about ${formatAmount(swap.expectedOut, collateral)}, becomes collateral.`,
      ...depositFeeNote(feeOf(swap.expectedOut), collateral),
    ],
  };
}

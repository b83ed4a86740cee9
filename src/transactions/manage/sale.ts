import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { swapDataOf } from '../build/call.ts';
import { buildDeleverage } from '../build/flash-leverage.ts';
import { LimitExceededError } from '../errors.ts';
import { requireLossWithin } from '../quote/bounds.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { Outcome } from '../simulate/outcome.ts';
import type { PlannedSwap } from '../types.ts';
import { type QuotedSwap, quoteAction } from './swap.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** Quote the sale of collateral that `deleverage` runs. */
export function quoteSale(context: ManageContext, amountIn: bigint): Promise<QuotedSwap> {
  const { chain, market } = context;
  return quoteAction(context, {
    tokenIn: payTokenOf(market.collateral),
    tokenOut: payTokenOf(market.loan),
    amountIn,
    executor: chain.contracts.flashLeverage,
    feeBps: 0,
  });
}

/** The transaction that sells so much collateral; 0 = all. */
export function saleDraft(
  { chain, position }: ManageContext,
  amountCollateral: bigint,
  swap: PlannedSwap,
): Pick<VerbDraft, 'path' | 'approvals' | 'tx' | 'swaps'> {
  return {
    path: 'deleverage',
    approvals: [],
    tx: buildDeleverage(chain.contracts, {
      positionId: BigInt(position.id),
      amountCollateral,
      swapData: swapDataOf(swap),
      minTokenOut: swap.minOut,
    }),
    swaps: [swap],
  };
}

/** Refuse a sale that loses more than its bounds. @throws LimitExceededError */
export function requireSaleWithin(
  { position, live, maxSwapLossPct, largestPct }: ManageContext,
  swap: PlannedSwap,
  requested: { readonly field: string; readonly value: string },
): void {
  requireLossWithin({
    swaps: [{ swap }],
    equity: collateralValueInLoan(position.collateral, live.price) - position.debt,
    boundsTotal: false,
    maxSwapLossPct,
    largestPct,
    requested,
  });
}

/** The same without throwing. */
export function isSaleWithin(context: ManageContext, swap: PlannedSwap): boolean {
  try {
    requireSaleWithin(context, swap, { field: 'amount', value: '' });
    return true;
  } catch (error) {
    if (error instanceof LimitExceededError) return false;
    throw error;
  }
}

/** The contract's fee on a simulated sale, loan base units. */
export function simulatedFee({ fills, repaid, received }: Pick<Outcome, 'fills' | 'repaid' | 'received'>): bigint {
  const fee = fills.reduce((sum, fill) => sum + fill.received, 0n) - repaid - received.loan;
  return fee > 0n ? fee : 0n;
}

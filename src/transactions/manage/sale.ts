import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { swapDataOf } from '../build/call.ts';
import { buildDeleverage } from '../build/flash-leverage.ts';
import { loanUsd, tokenUsdPrices } from '../deps.ts';
import { LimitExceededError } from '../errors.ts';
import { equityValueOf } from '../preview/costs.ts';
import { highCostIssues, type LeavingBounds, leavingBounds, requireLossWithin } from '../quote/refuse-costly-swaps.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { Outcome } from '../simulate/outcome.ts';
import type { Issue, PlannedSwap } from '../types.ts';
import { type QuotedSwap, quoteAction } from './swap.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** Quote the sale of collateral that `deleverage` runs. */
export function quoteSale(context: ManageContext, amountIn: bigint): Promise<QuotedSwap> {
  const { chain, market } = context;
  const [maxLossPct] = boundsOf(context).eachPct;
  return quoteAction(
    { ...context, maxLossPct },
    {
      tokenIn: payTokenOf(market.collateral),
      tokenOut: payTokenOf(market.loan),
      amountIn,
      executor: chain.contracts.flashLeverage,
      feeBps: 0,
    },
  );
}

function boundsOf({ market, position, live, limits: { maxLtvPct } }: ManageContext): LeavingBounds {
  const value = collateralValueInLoan(position.collateral, live.price);
  return leavingBounds([{ market, value, debt: position.debt, maxLtvPct }]);
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
  context: ManageContext,
  swap: PlannedSwap,
  requested: { readonly field: string; readonly value: string },
): void {
  const { eachPct, totalPct } = boundsOf(context);
  requireLossWithin({
    swaps: [{ swap, maxLossPct: eachPct[0] }],
    equity: equityValueOf(context.position, context.live.price),
    maxTotalPct: totalPct,
    maxSwapLossPct: context.maxSwapLossPct,
    largestPct: context.largestPct,
    requested,
    usdOf: usdOfLoan(context),
  });
}

/** Report a sale with a high cost. */
export function saleIssues(context: ManageContext, swap: PlannedSwap): readonly Issue[] {
  const equity = equityValueOf(context.position, context.live.price);
  return highCostIssues([{ swap }], equity, usdOfLoan(context));
}

function usdOfLoan({ deps, chain, market: { loan } }: ManageContext): (units: bigint) => Decimal | undefined {
  return loanUsd(tokenUsdPrices(deps, chain), loan);
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

import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { buildApprovals } from '../build/approvals.ts';
import { formatAmount } from '../messages.ts';
import type { CostItem } from '../preview/costs.ts';
import { requireLossWithin } from '../quote/refuse-costly-swaps.ts';
import { heldSlippage } from '../quote/slippage.ts';
import type { PayToken, PlannedSwap } from '../types.ts';
import { quoteAction } from './swap.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** Pay with a token that the position takes as it is. */
export function payDirectly(
  { wallet }: ManageContext,
  token: PayToken,
  amount: bigint,
  spender: Address,
): Pick<VerbDraft, 'approvals' | 'pays' | 'swaps'> {
  const allowance = wallet.allowances.get(spender) ?? 0n;
  return { approvals: buildApprovals({ token, spender, amount, allowance }), pays: { token, amount }, swaps: [] };
}

export interface PaidSwap {
  readonly tokenIn: PayToken;
  readonly tokenOut: PayToken;
  readonly amountIn: bigint;
  readonly feeBps: number;
  /** Oracle price of the output; absent where it is the loan token. */
  readonly outPrice?: bigint | undefined;
  /** Fees of the contract on an output. */
  feesOf(received: bigint): readonly CostItem[];
}

/**
 * Pay with a token that the router swaps first.
 * @throws LimitExceededError for a loss beyond the bounds; as `quoteAction`
 */
export async function paySwapped(
  context: ManageContext,
  { outPrice, feesOf, ...wanted }: PaidSwap,
): Promise<{ readonly swap: PlannedSwap; readonly draft: Omit<VerbDraft, 'path' | 'tx'> }> {
  const { tokenIn: token, amountIn: amount } = wanted;
  const executor = context.chain.contracts.flashLeverageRouter;
  const { swap, before, issues } = await quoteAction(context, { ...wanted, executor });
  const value = swap.reference ?? swap.expectedOut;
  requireLossWithin({
    swaps: [{ swap, outPrice }],
    // The payment: of the whole position a small one could lose everything.
    equity: outPrice === undefined ? value : collateralValueInLoan(value, outPrice),
    maxSwapLossPct: context.maxSwapLossPct,
    largestPct: context.largestPct,
    requested: { field: 'amount', value: formatUnitsPlain(amount, token.decimals) },
  });
  return {
    swap,
    draft: {
      ...payDirectly(context, token, amount, executor),
      amounts: { token, smallest: 'quotes', largest: 'quotes' },
      swaps: [swap],
      slippage: heldSlippage(context.slippage, [{ before, after: swap }]),
      issues,
      fees: feesOf(swap.expectedOut),
      conclude: ({ fills }) => ({ fees: feesOf(fills.at(-1)?.received ?? swap.expectedOut) }),
    },
  };
}

/** Name the deposit fee of the contract; nothing where there is none. */
export function depositFeeNote(fee: bigint, token: Pick<PayToken, 'symbol' | 'decimals'>): readonly string[] {
  return fee === 0n ? [] : [`The contract takes about ${formatAmount(fee, token)} of it as its deposit fee.`];
}

import { MathLib } from '@morpho-org/blue-sdk';
import { yieldFeeOnWithdrawal } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import { buildWithdrawCollateral } from '../build/flash-leverage.ts';
import { LimitExceededError } from '../errors.ts';
import { baseUnits } from '../input.ts';
import { formatAmount } from '../messages.ts';
import { contractFees } from '../preview/costs.ts';
import { leastCollateral } from '../preview/ltv.ts';
import { previewPosition } from '../preview/position.ts';
import { debtOf } from '../read/market-state.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** The largest safe amount of a refusal leaves room for this much interest, so that the next request can use it. */
export const SAFE_AHEAD_SEC = 600n;

/** Send collateral to the user, as long as the position stays at or below the safe LTV. @throws LimitExceededError */
export function removeCollateral(context: ManageContext): VerbDraft {
  const { chain, market, position, live, limits, input, rates } = context;
  if (!input.amount) throw new Error('the fields of remove_collateral were not checked');
  const token = payTokenOf(market.collateral);
  const amount = baseUnits(input.amount, token);
  const spare = (debt: bigint) => position.collateral - leastCollateral(debt, live.price, limits.safeLtvPct);
  const safe = MathLib.max(spare(debtOf(live, position.borrowShares, SAFE_AHEAD_SEC)), 0n);
  if (amount > spare(position.debt)) {
    const largest = formatUnitsPlain(safe, token.decimals);
    throw new LimitExceededError(
      `Taking ${formatAmount(amount, token)} out would leave the position above the safe LTV of ${limits.safeLtvPct.toFixed()} %. At most ${largest} ${token.symbol} can be taken now.`,
      {
        field: 'amount',
        value: input.amount.toFixed(),
        limit: { maxAmount: largest, maxLtvPct: limits.safeLtvPct.toFixed() },
      },
    );
  }
  const after = { collateral: position.collateral - amount, debt: position.debt };
  const fee = yieldFeeOnWithdrawal(
    {
      amount,
      value: collateralValueInLoan(amount, live.price),
      netValueAfter: collateralValueInLoan(after.collateral, live.price) - after.debt,
      basis: position.basis,
    },
    context.deployment.yieldFee,
  );
  const taken = collateralValueInLoan(amount, live.price);
  const basis = position.basis > taken ? position.basis - taken : 0n;
  const feesOf = (paidFee: bigint) => contractFees('YIELD_FEE', paidFee, market, live.price);
  const paidOut = (yieldFee: bigint) => collateralValueInLoan(amount - yieldFee, live.price);
  const notesOf = (yieldFee: bigint) => [
    after.collateral > 0n
      ? `${formatAmount(amount - yieldFee, token)} goes to the wallet.`
      : `All ${formatAmount(amount - yieldFee, token)} goes to the wallet, which closes the position.`,
    ...(yieldFee === 0n ? [] : [`The contract keeps ${formatAmount(yieldFee, token)} of the yield as its fee.`]),
  ];
  return {
    path: 'withdrawCollateral',
    approvals: [],
    tx: buildWithdrawCollateral(chain.contracts, { positionId: BigInt(position.id), amountWithdraw: amount }),
    swaps: [],
    fees: feesOf(fee),
    leastPaidOut: paidOut(fee),
    amounts: { token, smallest: 1n, largest: safe },
    preview: after.collateral > 0n ? previewPosition({ price: live.price, after, basis, rates }) : undefined,
    notes: notesOf(fee),
    conclude: ({ received }) => {
      // The yield that it is taken of is that of the moment of the withdrawal.
      const simulatedFee = amount - received.collateral;
      return { fees: feesOf(simulatedFee), leastPaidOut: paidOut(simulatedFee), notes: notesOf(simulatedFee) };
    },
  };
}

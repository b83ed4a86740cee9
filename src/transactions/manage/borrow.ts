import { MathLib } from '@morpho-org/blue-sdk';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import { buildBorrow } from '../build/flash-leverage.ts';
import { LimitExceededError } from '../errors.ts';
import { baseUnits } from '../input.ts';
import { largestCovered, liquidityNeeds, liquidityOf, requireCovered } from '../liquidity.ts';
import { formatAmount } from '../messages.ts';
import { mostDebt } from '../preview/ltv.ts';
import { previewPosition } from '../preview/position.ts';
import { debtOf } from '../read/market-state.ts';
import { payTokenOf } from '../read/tokens.ts';
import { SAFE_AHEAD_SEC } from './remove-collateral.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** The most that can be borrowed at the safe LTV, and on a correlated market out of the basis; 0 = nothing. Loan base units. */
function safeBorrow({ position, live, limits, deployment }: ManageContext): bigint {
  const capacity = mostDebt(position.collateral, live.price, limits.safeLtvPct);
  const room = MathLib.zeroFloorSub(capacity, debtOf(live, position.borrowShares, SAFE_AHEAD_SEC));
  return deployment.isCorrelated ? MathLib.min(room, position.basis) : room;
}

/** Borrow more to the user's wallet, at most up to the safe LTV. @throws LimitExceededError, InsufficientLiquidityError */
export function borrowMore(context: ManageContext): VerbDraft {
  const { chain, market, position, live, limits, input, rates } = context;
  if (!input.amount) throw new Error('the fields of borrow were not checked');
  const { isCorrelated } = context.deployment;
  const token = payTokenOf(market.loan);
  const amount = baseUnits(input.amount, token);
  const capacity = mostDebt(position.collateral, live.price, limits.safeLtvPct);
  if (position.debt + amount > capacity) {
    const largest = formatUnitsPlain(safeBorrow(context), token.decimals);
    throw new LimitExceededError(
      `Borrowing ${formatAmount(amount, token)} would leave the position above the safe LTV of ${limits.safeLtvPct.toFixed()} %. At most ${largest} ${token.symbol} can be borrowed now.`,
      {
        field: 'amount',
        value: input.amount.toFixed(),
        limit: { maxAmount: largest, maxLtvPct: limits.safeLtvPct.toFixed() },
      },
    );
  }
  if (isCorrelated && amount > position.basis) {
    const largest = formatUnitsPlain(position.basis, token.decimals);
    throw new LimitExceededError(
      `On a correlated market the contract lends no more than the deposit basis of the position, which is ${formatAmount(position.basis, token)} now. Borrow at most that, or take collateral out instead.`,
      { field: 'amount', value: input.amount.toFixed(), limit: { maxAmount: largest } },
    );
  }
  const flows = [{ kind: 'borrow', market, amount }] as const;
  requireCovered(liquidityNeeds([flows], [liquidityOf(market, live)]), (needs) => ({
    maxAmount: formatUnitsPlain(largestCovered(amount, needs), token.decimals),
  }));
  const after = { collateral: position.collateral, debt: position.debt + amount };
  const basis = position.basis > amount ? position.basis - amount : 0n;
  return {
    path: 'borrow',
    approvals: [],
    tx: buildBorrow(chain.contracts, { positionId: BigInt(position.id), amountBorrow: amount }),
    swaps: [],
    debtChange: amount,
    leastPaidOut: amount,
    amounts: { token, smallest: 1n, largest: MathLib.min(safeBorrow(context), MathLib.min(live.liquidity, live.idle)) },
    preview: previewPosition({ price: live.price, after, basis, rates }),
    notes: [`${formatAmount(amount, token)} goes to the wallet.`],
  };
}

import { type Returned, returnedShare } from '../../domain/leverage/flash-loan.ts';
import { Decimal } from '../../shared/decimal.ts';
import type { ChainId } from '../../shared/ids.ts';
import { UnsteadyQuotesError } from '../errors.ts';
import { ltvPctOf } from '../preview/ltv.ts';
import type { PlannedSwap } from '../types.ts';

/** How far below the target the expected LTV may end before the loan is sized and quoted once more, percentage points. */
const TOLERANCE_POINTS: Decimal = new Decimal('0.05');
/** Assumed loss of a swap, beside its referral fee, before it is quoted, millionths. */
const USUAL_LOSS_E6 = 600n;
/** Margin for a quote that returns less than the one before it, millionths: first almost none, then the bound of a swap. */
const NEXT_LOSS_E6 = 1n;
const WORST_LOSS_E6 = 10_000n;
const MILLION = 1_000_000n;

export interface SizedLoan {
  /** Loan base units. */
  readonly amount: bigint;
  /** The swap of the loan into collateral, as quoted. */
  readonly swap: PlannedSwap;
}

export interface LoanSizeInput {
  readonly chainId: ChainId;
  /** The least collateral that is there without the loan, base units. */
  readonly collateral: bigint;
  /** The debt before it, loan base units; absent = none. */
  readonly debt?: bigint | undefined;
  /** The market's oracle. */
  readonly price: bigint;
  readonly targetLtvPct: Decimal;
  /** Referral fee of the swap. */
  readonly feeBps: number;
  /** Size the loan for a swap that returns this share of its value. */
  sizeAt(returned: Returned): bigint;
  quoteAt(amount: bigint): Promise<PlannedSwap>;
}

/**
 * Find the flash loan with which a position ends at its target, and never above it, once the swap has given the expected output
 * of it. The first quote is for a swap with the usual loss; where the position would end above the target or
 * clearly below it, the loan is sized on the output of that quote and quoted once more. A venue whose quotes get worse from
 * one to the next is asked a third time, for a loan that carries the worst swap that is accepted.
 * @throws UnsteadyQuotesError when the position would end above the target even then
 */
export async function sizeLoan(input: LoanSizeInput): Promise<SizedLoan> {
  const { collateral, debt = 0n, price, targetLtvPct, sizeAt, quoteAt } = input;
  const tried: (SizedLoan & { readonly ltvPct: Decimal })[] = [];
  const attempt = async (returned: Returned) => {
    const amount = sizeAt(returned);
    const swap = await quoteAt(amount);
    const after = { collateral: collateral + swap.expectedOut, debt: debt + amount };
    const sized = { amount, swap, ltvPct: ltvPctOf(after, price) ?? new Decimal(Infinity) };
    tried.push(sized);
    return sized;
  };
  const best = () =>
    tried
      .filter(({ ltvPct }) => ltvPct.lte(targetLtvPct))
      .toSorted((a, b) => b.ltvPct.comparedTo(a.ltvPct) ?? 0)
      .at(0);
  const first = await attempt(less({ numerator: 10_000n - BigInt(input.feeBps), denominator: 10_000n }, USUAL_LOSS_E6));
  if (first.ltvPct.lte(targetLtvPct) && targetLtvPct.minus(first.ltvPct).lte(TOLERANCE_POINTS)) return first;
  const shareOf = ({ amount, swap }: SizedLoan) => returnedShare(amount, swap.expectedOut, price);
  const second = await attempt(less(shareOf(first), NEXT_LOSS_E6));
  if (!best()) await attempt(less(shareOf(second), WORST_LOSS_E6));
  const found = best();
  if (found) return found;
  const { amount, swap, ltvPct } = tried.at(-1) ?? second;
  throw new UnsteadyQuotesError({
    chainId: input.chainId,
    tokenIn: swap.tokenIn.address,
    tokenOut: swap.tokenOut.address,
    amountIn: amount.toString(),
    source: swap.quote.source,
    ltvPct,
    targetLtvPct,
  });
}

function less({ numerator, denominator }: Returned, lossE6: bigint): Returned {
  return { numerator: numerator * (MILLION - lossE6), denominator: denominator * MILLION };
}

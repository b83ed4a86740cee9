import { type Returned, returnedShare } from '../../domain/leverage/flash-loan.ts';
import { Decimal } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import { UnsteadyQuotesError } from '../errors.ts';
import { ltvPctOf } from '../preview/ltv.ts';

/** How far below the target the expected LTV may end before the loan is sized and quoted once more, percentage points. */
const TOLERANCE_POINTS: Decimal = new Decimal('0.05');
/** What a swap is taken to lose beside its referral fee before it is quoted, millionths. */
const USUAL_LOSS_E6 = 600n;
/** What is kept for a quote that gives less than the one before it, millionths: first next to nothing, then the bound of a swap. */
const NEXT_LOSS_E6 = 1n;
const WORST_LOSS_E6 = 10_000n;
const MILLION = 1_000_000n;

export interface SizedLoan<T> {
  /** Loan base units. */
  readonly amount: bigint;
  /** What the swap of the loan is expected to give, collateral base units. */
  readonly expectedOut: bigint;
  /** The venue. */
  readonly source: SwapQuote['source'];
  readonly quoted: T;
}

export interface LoanSizeInput<T> {
  /** What is swapped, for a refusal. */
  readonly pair: { readonly tokenIn: Address; readonly tokenOut: Address };
  /** The least collateral that is there without the loan, base units. */
  readonly collateral: bigint;
  /** What is owed already, loan base units. */
  readonly debt: bigint;
  /** The market's oracle. */
  readonly price: bigint;
  readonly targetLtvPct: Decimal;
  /** Referral fee that the swap will be asked for. */
  readonly feeBps: number;
  /** Size the loan for a swap that returns this share of its value. */
  sizeAt(returned: Returned): bigint;
  quoteAt(amount: bigint): Promise<Omit<SizedLoan<T>, 'amount'>>;
}

/**
 * Find the flash loan with which a position ends at its target, and never above it, once the swap has given what is expected
 * of it. The first quote is for a swap that loses what swaps usually do; where the position would end above the target or
 * clearly below it, the loan is sized on what that quote returns and quoted once more. A venue whose quotes get worse from
 * one to the next is asked a third time, for a loan that carries the worst swap that is accepted.
 * @throws UnsteadyQuotesError when the position would end above the target even then
 */
export async function sizeLoan<T>(input: LoanSizeInput<T>): Promise<SizedLoan<T>> {
  const { collateral, debt, price, targetLtvPct, sizeAt, quoteAt } = input;
  const tried: (SizedLoan<T> & { readonly ltvPct: Decimal })[] = [];
  const attempt = async (returned: Returned) => {
    const amount = sizeAt(returned);
    const quote = await quoteAt(amount);
    const after = { collateral: collateral + quote.expectedOut, debt: debt + amount };
    const sized = { amount, ...quote, ltvPct: ltvPctOf(after, price) ?? new Decimal(Infinity) };
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
  const shareOf = ({ amount, expectedOut }: SizedLoan<T>) => returnedShare(amount, expectedOut, price);
  const second = await attempt(less(shareOf(first), NEXT_LOSS_E6));
  if (!best()) await attempt(less(shareOf(second), WORST_LOSS_E6));
  const found = best();
  if (found) return found;
  const last = tried.at(-1) ?? second;
  throw new UnsteadyQuotesError({
    ...input.pair,
    amountIn: last.amount.toString(),
    source: last.source,
    ltvPct: last.ltvPct,
    targetLtvPct,
  });
}

function less({ numerator, denominator }: Returned, lossE6: bigint): Returned {
  return { numerator: numerator * (MILLION - lossE6), denominator: denominator * MILLION };
}

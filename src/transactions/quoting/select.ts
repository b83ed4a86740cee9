import { Decimal } from '../../shared/decimal.ts';
import type { SwapQuote } from '../../upstreams/types.ts';

/** A challenger that promises more than this above the other is not believed. */
const PLAUSIBLE_LEAD: Decimal = new Decimal('0.01');
/** A quote that nobody confirms may differ so much from the oracle's value. */
const PLAUSIBLE_DEVIATION: Decimal = new Decimal('0.1');

export interface Selection {
  /** Absent when no quote is believed. */
  readonly best?: SwapQuote;
  readonly dropped: readonly SwapQuote[];
}

/**
 * Choose among the quotes of one swap: the best output wins; one more than 1 % above the next is dropped as implausible,
 * and a quote that stands alone, then or from the start, is dropped when it is more than 10 % away from `expectedOut`,
 * the output at the oracle's price.
 */
export function selectQuote(quotes: readonly SwapQuote[], expectedOut: bigint | undefined): Selection {
  const remaining = [...quotes].sort((a, b) => (a.amountOut < b.amountOut ? 1 : a.amountOut > b.amountOut ? -1 : 0));
  const dropped: SwapQuote[] = [];
  for (;;) {
    const [best, next] = remaining;
    if (!best) return { dropped };
    const believed = next ? !leadsBy(best, next, PLAUSIBLE_LEAD) : isNear(best, expectedOut);
    if (believed) return { best, dropped };
    dropped.push(best);
    remaining.shift();
  }
}

function leadsBy(best: SwapQuote, next: SwapQuote, lead: Decimal): boolean {
  return new Decimal(best.amountOut.toString()).gt(new Decimal(next.amountOut.toString()).times(lead.plus(1)));
}

function isNear(quote: SwapQuote, expectedOut: bigint | undefined): boolean {
  if (expectedOut === undefined) return true;
  const expected = new Decimal(expectedOut.toString());
  return new Decimal(quote.amountOut.toString()).minus(expected).abs().lte(expected.times(PLAUSIBLE_DEVIATION));
}

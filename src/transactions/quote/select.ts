import type { SwapQuote } from '../../upstreams/types.ts';

/**
 * Order the quotes of one swap, the best output first. A quote is never left out for being high: a promise that is not kept
 * reverts at its minimum, and what is shown of it is capped at the reference.
 */
export function rankQuotes(quotes: readonly SwapQuote[]): readonly SwapQuote[] {
  return quotes.toSorted((a, b) => (a.amountOut < b.amountOut ? 1 : a.amountOut > b.amountOut ? -1 : 0));
}

import type { SwapQuote } from '../../upstreams/types.ts';

/**
 * Order the quotes of one swap, the best output first. A high quote is never left out: a fill below its minimum reverts, and the
 * shown output is capped at the reference.
 */
export function rankQuotes(quotes: readonly SwapQuote[]): readonly SwapQuote[] {
  return quotes.toSorted((a, b) => (a.amountOut < b.amountOut ? 1 : a.amountOut > b.amountOut ? -1 : 0));
}

import type { Decimal } from '../../shared/decimal.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import type { PlannedSwap } from '../types.ts';
import { expectedOutput, lossPct, MAX_SWAP_LOSS_PCT, minimumOutput } from './loss.ts';

export interface ChosenQuote {
  readonly tokenIn: PlannedSwap['tokenIn'];
  readonly tokenOut: PlannedSwap['tokenOut'];
  readonly quote: SwapQuote;
  /** Base units of `tokenOut`; absent when nothing prices the pair. */
  readonly reference: bigint | undefined;
  /** Ratio. */
  readonly slippage: Decimal;
  /** Percent of its value that the swap may lose; 1 when left out. */
  readonly allowedLossPct?: Decimal;
  /** Whether the minimum of a quote above its reference is made of the reference. Default false. */
  readonly capped?: boolean;
}

/** Judge a chosen quote against its reference: what is expected of it, what it loses, and its minimum. */
export function planSwap(chosen: ChosenQuote): PlannedSwap {
  const { tokenIn, tokenOut, quote, reference, slippage } = chosen;
  const { allowedLossPct = MAX_SWAP_LOSS_PCT, capped = false } = chosen;
  const expectedOut = expectedOutput(quote.amountOut, reference);
  return {
    tokenIn,
    tokenOut,
    quote,
    expectedOut,
    ...(reference === undefined ? {} : { reference, lossPct: lossPct(reference, expectedOut) }),
    minOut: minimumOutput({ quoted: quote.amountOut, reference, slippage, allowedLossPct, capped }),
    feeBps: quote.feeBps,
  };
}

/** The same swap with a higher minimum. */
export function withMinimum(swap: PlannedSwap, minOut: bigint): PlannedSwap {
  return minOut > swap.minOut ? { ...swap, minOut } : swap;
}

/** What a swap gives in the worst case that is shown: its minimum, and never more than what is expected of it. Base units. */
export function worstOutput({ minOut, expectedOut }: PlannedSwap): bigint {
  return minOut < expectedOut ? minOut : expectedOut;
}

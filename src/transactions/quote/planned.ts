import { MathLib } from '@morpho-org/blue-sdk';
import { type Decimal, HUNDRED } from '../../shared/decimal.ts';
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
  /** The loss of all swaps together that the request allows, percent of the equity: it then bounds each swap as well. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The most that it may lose of its value without that, percent; absent = 1. */
  readonly maxLossPct?: Decimal | undefined;
  /** Whether the minimum of a quote above its reference is made of the reference. */
  readonly capped: boolean;
}

/** Compare a chosen quote with its reference: expected output, loss and minimum. */
export function planSwap(chosen: ChosenQuote): PlannedSwap {
  const { tokenIn, tokenOut, quote, reference, slippage, capped } = chosen;
  const allowedLossPct = chosen.maxSwapLossPct ? HUNDRED : (chosen.maxLossPct ?? MAX_SWAP_LOSS_PCT);
  const expectedOut = expectedOutput(quote.amountOut, reference);
  return {
    tokenIn,
    tokenOut,
    quote,
    expectedOut,
    reference,
    lossPct: reference === undefined ? undefined : lossPct(reference, expectedOut),
    minOut: minimumOutput({ quoted: quote.amountOut, reference, slippage, allowedLossPct, capped }),
    feeBps: quote.feeBps,
  };
}

/** The same swap with a higher minimum. */
export function withMinimum(swap: PlannedSwap, minOut: bigint): PlannedSwap {
  return minOut > swap.minOut ? { ...swap, minOut } : swap;
}

/** Output of a swap in the worst case: its minimum, and never more than the expected output. Base units. */
export function worstOutput({ minOut, expectedOut }: PlannedSwap): bigint {
  return MathLib.min(minOut, expectedOut);
}

import type { Chain } from '../../catalog/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import type { BuilderDeps } from '../deps.ts';
import type { EffectiveSlippage, PlannedSwap } from '../types.ts';
import { planSwap } from './planned.ts';

/** Slippage and allowed loss of the swaps of a build. */
export interface SwapBounds {
  readonly chain: Chain;
  readonly slippage: EffectiveSlippage;
  /** The loss of all swaps together that the caller allows, percent of the equity; absent = the usual bounds. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The most that one swap may lose of its value without it, percent; absent = 1. */
  readonly maxLossPct?: Decimal | undefined;
}

export interface WantedSwap<T = PlannedSwap['tokenIn']> {
  readonly tokenIn: T;
  readonly tokenOut: T;
  /** Base units of `tokenIn`. */
  readonly amountIn: bigint;
  /** The contract that calls the venue and receives the output. */
  readonly executor: Address;
  /** Referral fee; 0 for every swap that is not into a position. */
  readonly feeBps: number;
}

/** Ask the venues for the best quote of a swap. @throws NoRouteError, UpstreamUnavailableError */
export function requestQuote(
  { quoter, feeReceiver }: BuilderDeps,
  { chain, slippage }: SwapBounds,
  { tokenIn, tokenOut, amountIn, executor, feeBps }: WantedSwap,
): Promise<SwapQuote> {
  return quoter.quote({
    chain,
    tokenIn: tokenIn.address,
    tokenOut: tokenOut.address,
    amountIn,
    sender: executor,
    recipient: executor,
    slippage: slippage.value,
    ...(feeReceiver && feeBps > 0 ? { feeBps, feeReceiver } : { feeBps: 0 }),
  });
}

/**
 * Quote a swap and hold it against its reference.
 * @param reference value of the input at prices that no venue influences, base units of the output; absent = unknown
 * @throws NoRouteError, UpstreamUnavailableError
 */
export async function quoteSwap(
  deps: BuilderDeps,
  bounds: SwapBounds,
  wanted: WantedSwap,
  reference: bigint | undefined,
): Promise<PlannedSwap> {
  const quote = await requestQuote(deps, bounds, wanted);
  return planQuote(deps, bounds, wanted, quote, reference);
}

/** Hold a quote that is there against its reference. */
export function planQuote(
  { quoter: { capped } }: Pick<BuilderDeps, 'quoter'>,
  { slippage: { value: slippage }, maxSwapLossPct, maxLossPct }: SwapBounds,
  { tokenIn, tokenOut }: Pick<WantedSwap, 'tokenIn' | 'tokenOut'>,
  quote: SwapQuote,
  reference: bigint | undefined,
): PlannedSwap {
  return planSwap({ tokenIn, tokenOut, quote, reference, slippage, maxSwapLossPct, maxLossPct, capped });
}

import type { Address } from '../../shared/ids.ts';
import { feeFields, usdPrices } from '../deps.ts';
import { leastOutput } from '../input.ts';
import { optionalOutput, unverifiedPrice } from '../open/prepare.ts';
import { plannedSwap } from '../open/terms.ts';
import { referenceOutput } from '../quoting/reference.ts';
import type { Issue, PayToken, PlannedSwap } from '../types.ts';
import type { ManageContext } from './types.ts';

export interface WantedSwap {
  readonly tokenIn: PayToken;
  readonly tokenOut: PayToken;
  readonly amountIn: bigint;
  /** The contract that calls the venue and receives the output. */
  readonly executor: Address;
  /** Referral fee; 0 for every swap that is not into a position. */
  readonly feeBps: number;
}

/** Quote a swap of a manage action. @throws NoRouteError, UpstreamUnavailableError */
export async function quoteSwap(
  { deps, chain, market, live, slippage }: ManageContext,
  { tokenIn, tokenOut, amountIn, executor, feeBps }: WantedSwap,
): Promise<{ readonly swap: PlannedSwap; readonly issues: readonly Issue[] }> {
  const usdOf = usdPrices(deps, chain);
  const expected = referenceOutput({ market, price: live.price, tokenIn, tokenOut, amountIn, usdOf });
  const quote = await deps.quoter.quote({
    chain,
    tokenIn: tokenIn.address,
    tokenOut: tokenOut.address,
    amountIn,
    sender: executor,
    recipient: executor,
    slippage: slippage.value,
    ...feeFields(deps, feeBps),
    ...optionalOutput(expected),
  });
  return {
    swap: plannedSwap(tokenIn, tokenOut, quote, leastOutput(quote.amountOut, slippage.value)),
    issues: expected === undefined ? [unverifiedPrice(tokenIn)] : [],
  };
}

/** The same swap with a higher minimum. */
export function withMinimum(swap: PlannedSwap, minOut: bigint): PlannedSwap {
  return minOut > swap.minOut ? { ...swap, minOut } : swap;
}

import type { Address } from '../../shared/ids.ts';
import { feeFields, tokenUsdPrices } from '../deps.ts';
import { unverifiedPrice } from '../open/prepare.ts';
import { withFloor } from '../quote/floor.ts';
import { planSwap } from '../quote/planned.ts';
import { paidPriceAgeIssues } from '../quote/price-age.ts';
import { referenceFor } from '../quote/reference.ts';
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

export interface QuotedSwap {
  readonly swap: PlannedSwap;
  /** The same without the caller's own minimum. */
  readonly before: PlannedSwap;
  readonly issues: readonly Issue[];
}

/** Quote a swap of a manage action. @throws BadRequestError, LimitExceededError, NoRouteError, UpstreamUnavailableError */
export async function quoteSwap(
  { deps, chain, market, live, slippage, maxSwapLossPct, input }: ManageContext,
  { tokenIn, tokenOut, amountIn, executor, feeBps }: WantedSwap,
): Promise<QuotedSwap> {
  const usdOf = tokenUsdPrices(deps, chain);
  const found = referenceFor({ market, price: live.price, tokenIn, tokenOut, amountIn, usdOf });
  const reference = found?.amountOut;
  const quote = await deps.quoter.quote({
    chain,
    tokenIn: tokenIn.address,
    tokenOut: tokenOut.address,
    amountIn,
    sender: executor,
    recipient: executor,
    slippage: slippage.value,
    ...feeFields(deps, feeBps),
  });
  const { capped } = deps.quoter;
  const before = planSwap({ tokenIn, tokenOut, quote, reference, slippage: slippage.value, maxSwapLossPct, capped });
  return {
    before,
    swap: withFloor(before, input.minAmountOut),
    issues: found
      ? found.basis === 'USD'
        ? paidPriceAgeIssues(deps, chain, tokenIn)
        : []
      : [unverifiedPrice(tokenIn)],
  };
}

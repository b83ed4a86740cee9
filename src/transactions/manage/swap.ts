import { tokenUsdPrices } from '../deps.ts';
import { withFloor } from '../quote/floor.ts';
import { paidPriceAgeIssues } from '../quote/price-age.ts';
import { referenceFor, unverifiedPrice } from '../quote/reference.ts';
import { quoteSwap, type WantedSwap } from '../quote/request.ts';
import type { Issue, PayToken, PlannedSwap } from '../types.ts';
import type { ManageContext } from './types.ts';

export interface QuotedSwap {
  readonly swap: PlannedSwap;
  /** The same without the caller's own minimum. */
  readonly before: PlannedSwap;
  readonly issues: readonly Issue[];
}

/** Quote the swap of a manage action. @throws BadRequestError, LimitExceededError, NoRouteError, UpstreamUnavailableError */
export async function quoteAction(context: ManageContext, wanted: WantedSwap<PayToken>): Promise<QuotedSwap> {
  const { deps, chain, market, live, input } = context;
  const usdOf = tokenUsdPrices(deps, chain);
  const found = referenceFor({ ...wanted, market, price: live.price, usdOf });
  const before = await quoteSwap(deps, context, wanted, found?.amountOut);
  const { tokenIn } = wanted;
  const issues = found?.basis === 'USD' ? paidPriceAgeIssues(deps, chain, tokenIn) : [];
  return {
    before,
    swap: withFloor(before, input.minAmountOut),
    issues: found ? issues : [unverifiedPrice(tokenIn)],
  };
}

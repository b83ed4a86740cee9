import type { Chain, Token } from '../catalog/types.ts';
import type { ChainFacts } from '../domain/facts.ts';
import { isPlausiblePrice } from '../domain/market/prices.ts';
import { peggedTokens } from '../domain/market/statics.ts';
import { Decimal } from '../shared/decimal.ts';

/** Return the USD value of one whole token; `null` when it is not known well enough to measure against. */
export type UsdPriceOf = (chain: Chain, facts: ChainFacts, token: Token, nowMs: number) => Decimal | null;

/** An older price cannot measure today's loss. */
const MAX_AGE_MS = 60 * 60_000;

/** The measured price when it is recent and plausible, otherwise the oracle's value in a loan token with such a price. */
export const usdPriceOf: UsdPriceOf = (chain, facts, token, nowMs) => {
  const measured = measuredPrice(chain, facts, token, nowMs);
  if (measured !== null) return measured;
  for (const market of chain.markets) {
    if (market.collateral.address !== token.address) continue;
    const oracle = facts.groups.oracle.items.get(market.oracle);
    const loan = measuredPrice(chain, facts, market.loan, nowMs);
    if (!oracle || loan === null || nowMs - oracle.asOfMs > MAX_AGE_MS) continue;
    const places = market.collateral.decimals - market.loan.decimals - 36;
    const usd = new Decimal(oracle.value.price.toString()).times(loan).shiftedBy(places);
    if (isPlausiblePrice(usd, false)) return usd;
  }
  return null;
};

function measuredPrice(chain: Chain, facts: ChainFacts, token: Token, nowMs: number): Decimal | null {
  const fact = facts.groups.price.items.get(token.address);
  if (!fact || nowMs - fact.asOfMs > MAX_AGE_MS) return null;
  return isPlausiblePrice(fact.value.usd, peggedTokens(chain).has(token.address)) ? fact.value.usd : null;
}

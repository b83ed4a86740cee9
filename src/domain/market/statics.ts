import type { Chain, Market, Token } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { type LtvLimits, ltvLimits } from '../leverage/limits.ts';

/*
 * What follows from the catalog alone is computed once per catalog object: the catalog never changes while the process
 * lives, and a chain is composed at every version.
 */
const limitsOfMarket = new WeakMap<Market, LtvLimits>();
const peggedOfChain = new WeakMap<Chain, ReadonlySet<Address>>();

/** Look up the LTV limits of a catalog market. */
export function limitsOf(market: Market): LtvLimits {
  let limits = limitsOfMarket.get(market);
  if (!limits) {
    limits = ltvLimits(market.lltv);
    limitsOfMarket.set(market, limits);
  }
  return limits;
}

/**
 * Tell which tokens of a chain are stablecoins held at one dollar, whose price must lie in 0.9–1.1 to be believed:
 * the chain's stable; the loan token of every correlated market whose collateral is `stable` or `stable-PT` (correlated
 * means that both follow the dollar); and a `stable` token that earns nothing by itself. Yield-bearing stable tokens
 * are not among them: their price rises by design.
 */
export function peggedTokens(chain: Chain): ReadonlySet<Address> {
  let pegged = peggedOfChain.get(chain);
  if (!pegged) {
    pegged = new Set([
      chain.stable.address,
      ...chain.markets.filter(followsTheDollar).map((market) => market.loan.address),
      ...chain.tokens.filter(isPlainStable).map((token) => token.address),
    ]);
    peggedOfChain.set(chain, pegged);
  }
  return pegged;
}

function followsTheDollar(market: Market): boolean {
  const { category } = market.collateral;
  return market.correlated && (category === 'stable' || category === 'stable-PT');
}

function isPlainStable(token: Token): boolean {
  return token.category === 'stable' && token.apySource === 'none';
}

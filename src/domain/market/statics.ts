import type { Chain, Market, Token } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { type LtvLimits, ltvLimits } from '../leverage/limits.ts';
import { oncePer, oncePerValue } from '../memo.ts';

/** Look up the LTV limits of a catalog market. The protocol allows a handful of liquidation LTVs, so markets share them. */
export const limitsOf = ({ lltv }: Pick<Market, 'lltv'>): LtvLimits => limitsOfLltv(lltv);
const limitsOfLltv: (lltv: bigint) => LtvLimits = oncePerValue((lltv: bigint) => ltvLimits(lltv));

/**
 * Tell which tokens of a chain are stablecoins held at one dollar, whose price must lie in 0.9–1.1 to be believed:
 * the chain's stable; the loan token of every correlated market whose collateral is `stable` or `stable-PT` (correlated
 * means that both follow the dollar); and a `stable` token that earns nothing by itself. Yield-bearing stable tokens
 * are not among them: their price rises by design.
 */
export const peggedTokens: (chain: Chain) => ReadonlySet<Address> = oncePer(
  (chain) =>
    new Set([
      chain.stable.address,
      ...chain.markets.filter(followsTheDollar).map((market) => market.loan.address),
      ...chain.tokens.filter(isPlainStable).map((token) => token.address),
    ]),
);

function followsTheDollar(market: Market): boolean {
  const { category } = market.collateral;
  return market.correlated && (category === 'stable' || category === 'stable-PT');
}

function isPlainStable(token: Token): boolean {
  return token.category === 'stable' && token.apySource === 'none';
}

import type { Chain, Market, Token } from '../../catalog/types.ts';
import { Decimal, formatPct } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { type ChainFacts, DEPLOYMENT_KEY } from '../facts.ts';
import { ladderRungs, type Rung, rungAtLtv } from '../leverage/ladder.ts';
import { type LtvLimits, ltvLimits } from '../leverage/limits.ts';

/**
 * Compute the LTV limits of a catalog market from the contract's buffer in WAD; absent = not known, the documented default
 * applies.
 */
export function limitsOf({ lltv }: Pick<Market, 'lltv'>, buffer?: bigint): LtvLimits {
  return buffer === undefined ? ltvLimits(lltv) : ltvLimits(lltv, new Decimal(buffer.toString()).shiftedBy(-16));
}

/** The limits of a market with the leverage that they allow. */
export interface MarketLimits extends LtvLimits {
  readonly rungs: readonly Rung[];
  readonly safeRung: Rung;
  /** The limits as strategies show them, percent. */
  readonly ltvPct: { readonly liquidation: string; readonly max: string; readonly safe: string };
}

/** Compute the limits of a market and its rungs. */
export function marketLimits(market: Pick<Market, 'lltv'>, buffer?: bigint): MarketLimits {
  const limits = limitsOf(market, buffer);
  return {
    ...limits,
    rungs: ladderRungs(limits.maxLtvPct),
    safeRung: rungAtLtv(limits.safeLtvPct),
    ltvPct: {
      liquidation: formatPct(limits.liquidationLtvPct),
      max: formatPct(limits.maxLtvPct),
      safe: formatPct(limits.safeLtvPct),
    },
  };
}

/** The buffer of a chain's contract, in WAD; `undefined` = not known. */
export function bufferOf({ groups }: ChainFacts): bigint | undefined {
  return groups.deployment.items.get(DEPLOYMENT_KEY)?.value.liquidationBuffer;
}

/**
 * Return the stablecoins of a chain that are pegged to one dollar, so that a plausible price is within 0.9–1.1: the chain's
 * stablecoin; the loan token of every correlated market whose collateral is `stable` or `stable-PT` (correlated means that
 * both follow the dollar); and a `stable` token without a yield of its own. Yield-bearing stable tokens are not included,
 * because their price rises by design.
 */
export function peggedTokens(chain: Chain): ReadonlySet<Address> {
  return new Set([
    chain.stable.address,
    ...chain.markets.filter(followsTheDollar).map((market) => market.loan.address),
    ...chain.tokens.filter(isPlainStable).map((token) => token.address),
  ]);
}

function followsTheDollar(market: Market): boolean {
  const { category } = market.collateral;
  return market.correlated && (category === 'stable' || category === 'stable-PT');
}

function isPlainStable(token: Token): boolean {
  return token.category === 'stable' && token.apySource === 'none';
}

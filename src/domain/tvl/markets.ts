import type { Chain } from '../../catalog/types.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { ChainFacts } from '../facts.ts';
import { accrue } from '../market/accrue.ts';
import { oracleDivergence } from '../market/oracle-divergence.ts';
import { isPlausiblePrice, loanPrice, priceContext, tokenPrice } from '../market/prices.ts';
import type { ComposedMarket } from '../market/types.ts';

/** TVL input of a market. It has no APY, so TVL does not depend on yield sources. */
export type TvlMarket = Pick<
  ComposedMarket,
  | 'market'
  | 'loanPrice'
  | 'totalSupplyAssets'
  | 'totalBorrowAssets'
  | 'totalSupplyShares'
  | 'totalBorrowShares'
  | 'oracleDivergence'
> & { readonly facts: Pick<ComposedMarket['facts'], 'lendingState' | 'oracle'> };

export interface TvlMarkets {
  readonly chainId: ChainId;
  readonly markets: readonly TvlMarket[];
  /** Catalog markets without a known state or oracle value. */
  readonly excluded: readonly { readonly marketId: string }[];
}

/** Gather the TVL inputs of every market of a chain from one version of its facts. */
export function tvlMarkets(chain: Chain, facts: ChainFacts): TvlMarkets {
  const { groups } = facts;
  const context = priceContext(chain, facts);
  const markets: TvlMarket[] = [];
  const excluded: { readonly marketId: string }[] = [];
  for (const market of chain.markets) {
    const lendingState = groups.lendingState.items.get(market.id);
    const oracle = groups.oracle.items.get(market.oracle);
    if (!lendingState || !oracle) {
      excluded.push({ marketId: market.id });
      continue;
    }
    const loan = loanPrice(market, context);
    const totals = accrue(lendingState.value);
    const divergence = oracleDivergence({
      market,
      oracle,
      loanUsd: loan.price?.value.usd,
      price: tokenPrice(market.collateral, 'collateralPrice', context).price,
    });
    markets.push({
      market,
      facts: { lendingState, oracle },
      ...totals,
      // A price off its peg is not used for sums in USD: the last computed TVL stays, with its age.
      loanPrice:
        loan.price && isPlausiblePrice(loan.price.value.usd, context.pegged.has(market.loan.address))
          ? loan.price
          : undefined,
      oracleDivergence: divergence,
    });
  }
  return { chainId: chain.chainId, markets, excluded };
}

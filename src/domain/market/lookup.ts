import type { Chain, Market } from '../../catalog/types.ts';
import type { MarketId } from '../../shared/ids.ts';
import { oncePer } from '../memo.ts';
import type { Strategy } from '../strategy/types.ts';
import type { ComposedChain, ComposedMarket } from './types.ts';

/*
 * Composed chains are immutable and answer many requests: what is looked up in them is indexed once per composition.
 */

/** Index the composed markets of a chain by their ids. */
export const marketsById: (composed: ComposedChain) => ReadonlyMap<MarketId, ComposedMarket> = oncePer(
  ({ markets }) => new Map(markets.map((market) => [market.market.id, market])),
);

/** Index the strategies of a chain by their ids. */
export const strategiesById: (composed: ComposedChain) => ReadonlyMap<string, Strategy> = oncePer(
  ({ strategies }) => new Map(strategies.map((strategy) => [strategy.id, strategy])),
);

/** Index the strategies of a chain by the market that they stand on, in their own order. */
export const strategiesByMarket: (composed: ComposedChain) => ReadonlyMap<MarketId, readonly Strategy[]> = oncePer(
  ({ strategies }) => {
    const byMarket = new Map<MarketId, Strategy[]>();
    for (const strategy of strategies) {
      const known = byMarket.get(strategy.marketId);
      if (known) known.push(strategy);
      else byMarket.set(strategy.marketId, [strategy]);
    }
    return byMarket;
  },
);

/** Index the catalog markets of a chain by their ids. */
export const catalogMarketsById: (chain: Pick<Chain, 'markets'>) => ReadonlyMap<MarketId, Market> = oncePer(
  ({ markets }) => new Map(markets.map((market) => [market.id, market])),
);

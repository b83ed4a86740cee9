import type { MarketId, StrategyId } from '../../shared/ids.ts';
import { type IndexedStrategy, indexStrategy } from '../strategy/keys.ts';
import type { Strategy } from '../strategy/types.ts';
import type { ChainLookup, ComposedChain, ComposedMarket } from './types.ts';

/** The index of a chain while its markets and strategies are composed. */
export interface GrowingLookup {
  readonly lookup: ChainLookup;
  addMarket(composed: ComposedMarket): void;
  addStrategy(strategy: Strategy): void;
}

/** Begin to index composed markets and strategies: each one is indexed with its page, because an index of all takes long. */
export function beginLookup(): GrowingLookup {
  const markets = new Map<MarketId, ComposedMarket>();
  const strategies = new Map<StrategyId, Strategy>();
  const strategiesByMarket = new Map<MarketId, Strategy[]>();
  const indexed: IndexedStrategy[] = [];
  return {
    lookup: { markets, strategies, strategiesByMarket, indexed },
    addMarket(composed) {
      markets.set(composed.market.id, composed);
    },
    addStrategy(strategy) {
      const market = markets.get(strategy.marketId);
      if (!market) throw new Error(`the market of the strategy ${strategy.id} is not composed`);
      strategies.set(strategy.id, strategy);
      const known = strategiesByMarket.get(strategy.marketId);
      if (known) known.push(strategy);
      else strategiesByMarket.set(strategy.marketId, [strategy]);
      indexed.push(indexStrategy(strategy, market));
    },
  };
}

/** The composed markets of a chain by their ids. */
export function marketsById({ lookup }: ComposedChain): ChainLookup['markets'] {
  return lookup.markets;
}

/** The strategies of a chain by their ids. */
export function strategiesById({ lookup }: ComposedChain): ChainLookup['strategies'] {
  return lookup.strategies;
}

/** The strategies of a chain by their market. */
export function strategiesByMarket({ lookup }: ComposedChain): ChainLookup['strategiesByMarket'] {
  return lookup.strategiesByMarket;
}

import type { MarketId } from '../../shared/ids.ts';
import { indexStrategy } from '../strategy/keys.ts';
import type { Strategy } from '../strategy/types.ts';
import type { ChainLookup, ComposedChain, ComposedMarket } from './types.ts';

/** Index the composed markets and strategies of a chain. */
export function lookupOf(markets: readonly ComposedMarket[], strategies: readonly Strategy[]): ChainLookup {
  const strategiesByMarket = new Map<MarketId, Strategy[]>();
  for (const strategy of strategies) {
    const known = strategiesByMarket.get(strategy.marketId);
    if (known) known.push(strategy);
    else strategiesByMarket.set(strategy.marketId, [strategy]);
  }
  return {
    markets: new Map(markets.map((market) => [market.market.id, market])),
    strategies: new Map(strategies.map((strategy) => [strategy.id, strategy])),
    strategiesByMarket,
    indexed: strategies.map(indexStrategy),
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

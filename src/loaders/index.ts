import type { ChainFacts } from '../domain/facts.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { ChainId } from '../shared/ids.ts';
import { createHistoryLoaders, type HistoryLoaders, type HistorySource } from './history.ts';
import { createPositionLoaders, type PositionLoaders, type PositionSource } from './positions.ts';

/** What the loaders read from; `Services` satisfies it. */
export interface LoaderSources {
  composed(chainId: ChainId): ComposedChain;
  facts(chainId: ChainId): ChainFacts;
  readonly histories: HistorySource;
  readonly positions: PositionSource;
}

/** Per-request access: everything in one answer comes from one version of each chain, and equal reads happen once. */
export interface Loaders extends HistoryLoaders, PositionLoaders {
  composed(chainId: ChainId): ComposedChain;
  facts(chainId: ChainId): ChainFacts;
}

/** Create the loaders of one request. Most requests need no more than one of them: the others are made when they are used. */
export function createLoaders(sources: LoaderSources): Loaders {
  let histories: HistoryLoaders | undefined;
  let positions: PositionLoaders | undefined;
  return {
    composed: once((chainId) => sources.composed(chainId)),
    facts: once((chainId) => sources.facts(chainId)),
    get history() {
      histories ??= createHistoryLoaders(sources.histories);
      return histories.history;
    },
    get wallet() {
      positions ??= createPositionLoaders(sources.positions);
      return positions.wallet;
    },
  };
}

function once<K, V>(read: (key: K) => V): (key: K) => V {
  const seen = new Map<K, V>();
  return (key) => {
    const known = seen.get(key);
    if (known !== undefined) return known;
    const value = read(key);
    seen.set(key, value);
    return value;
  };
}

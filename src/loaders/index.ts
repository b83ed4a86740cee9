import type { ChainFacts } from '../domain/facts.ts';
import { type MarketsAtBlock, type MarketValues, marketsAtReadings } from '../domain/market/at-block.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { TvlSnapshot } from '../resolvers/common/services.ts';
import type { CacheHints } from '../shared/cache-validity.ts';
import type { ChainId } from '../shared/ids.ts';
import { createHistoryLoaders, type HistoryLoaders, type HistorySource } from './history.ts';
import { createPositionLoaders, type PositionLoaders, type PositionSources } from './positions.ts';

/** Sources of the loaders; `Services` satisfies it. */
export interface LoaderSources extends PositionSources {
  composed(chainId: ChainId): ComposedChain;
  facts(chainId: ChainId): ChainFacts;
  tvl(): TvlSnapshot | null;
  readonly histories: HistorySource;
}

/**
 * Per-request access: all values of an answer come from one version of each chain, and equal reads are deduplicated. Every
 * loader reports the cache validity of its values.
 */
export interface Loaders extends HistoryLoaders, PositionLoaders {
  composed(chainId: ChainId): ComposedChain;
  facts(chainId: ChainId): ChainFacts;
  /** The values of markets at the block of a reading, memoized for all wallets of the request. */
  marketsAt(chainId: ChainId, at: MarketsAtBlock | undefined): MarketValues;
  tvl(): TvlSnapshot | null;
  /** Read a chain's facts again from now on, after a wait for a newer version. */
  renew(chainId: ChainId): void;
}

/**
 * Recorded histories grow independently of the versions of the facts: a cached answer may lack the samples of this many ms.
 */
const HISTORY_MS = 10_000;

/**
 * Create the loaders of one request. Most requests need at most one of them, so the groups are created on first use.
 * @param hints collects the cache validity of an answer made at `nowMs`
 */
export function createLoaders(sources: LoaderSources, hints: CacheHints, nowMs: number): Loaders {
  let histories: HistoryLoaders | undefined;
  let made: PositionLoaders | undefined;
  const positions = (): PositionLoaders => {
    hints.never();
    made ??= createPositionLoaders(sources);
    return made;
  };
  const composedOf = once((chainId: ChainId): ComposedChain => {
    const composed = sources.composed(chainId);
    // The closure holds the version only: a reference to the composition would keep it in memory for every cached answer.
    const { version, recomposeAtMs } = composed;
    hints.madeFrom(`composed ${chainId}`, () => {
      const latest = sources.composed(chainId);
      return latest.version === version && latest.recomposeAtMs === recomposeAtMs;
    });
    if (recomposeAtMs !== undefined) hints.until(recomposeAtMs);
    return composed;
  });
  const readingsOf = once((chainId: ChainId) => marketsAtReadings(composedOf(chainId)));
  const factsOf = once((chainId: ChainId): ChainFacts => {
    const facts = sources.facts(chainId);
    const { version } = facts;
    hints.madeFrom(`facts ${chainId}`, () => sources.facts(chainId).version === version);
    return facts;
  });
  return {
    composed: composedOf,
    marketsAt: (chainId, at) => readingsOf(chainId)(at),
    facts: factsOf,
    renew(chainId) {
      for (const memo of [composedOf, readingsOf, factsOf]) memo.forget(chainId);
    },
    tvl() {
      const tvl = sources.tvl();
      const version = tvl?.version;
      hints.madeFrom('tvl', () => sources.tvl()?.version === version);
      return tvl;
    },
    get history() {
      hints.until(nowMs + HISTORY_MS);
      histories ??= createHistoryLoaders(sources.histories);
      return histories.history;
    },
    get wallet() {
      return positions().wallet;
    },
    get registered() {
      return positions().registered;
    },
    get proxyOwner() {
      return positions().proxyOwner;
    },
    get positionHistory() {
      return positions().positionHistory;
    },
    get positionEvents() {
      return positions().positionEvents;
    },
    get portfolio() {
      return positions().portfolio;
    },
    get report() {
      return positions().report;
    },
  };
}

function once<K, V>(read: (key: K) => V): ((key: K) => V) & { forget(key: K): void } {
  const values = new Map<K, V>();
  const memo = (key: K): V => {
    const known = values.get(key);
    if (known !== undefined) return known;
    const value = read(key);
    values.set(key, value);
    return value;
  };
  return Object.assign(memo, { forget: (key: K) => void values.delete(key) });
}

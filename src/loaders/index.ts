import type { ChainFacts } from '../domain/facts.ts';
import { type MarketsAtBlock, type MarketValues, marketsAtReadings } from '../domain/market/at-block.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { TvlSnapshot } from '../resolvers/common/services.ts';
import type { CacheHints } from '../shared/cache-validity.ts';
import type { ChainId } from '../shared/ids.ts';
import { createHistoryLoaders, type HistoryLoaders, type HistorySource } from './history.ts';
import { createPositionLoaders, type PositionLoaders, type PositionSources } from './positions.ts';

/** What the loaders read from; `Services` satisfies it. */
export interface LoaderSources extends PositionSources {
  composed(chainId: ChainId): ComposedChain;
  facts(chainId: ChainId): ChainFacts;
  tvl(): TvlSnapshot | null;
  readonly histories: HistorySource;
}

/**
 * Per-request access: everything in one answer comes from one version of each chain, and equal reads happen once. Every
 * loader says how long an answer made from it may be given again.
 */
export interface Loaders extends HistoryLoaders, PositionLoaders {
  composed(chainId: ChainId): ComposedChain;
  facts(chainId: ChainId): ChainFacts;
  /** The values of markets at the block of a reading, made once for all wallets of the request. */
  marketsAt(chainId: ChainId, at: MarketsAtBlock | undefined): MarketValues;
  tvl(): TvlSnapshot | null;
}

/** Recorded histories grow beside the versions of the facts: a new sample may be this late in an answer. */
const HISTORY_MS = 10_000;

/**
 * Create the loaders of one request. Most requests need no more than one of them: the others are made when they are used.
 * @param hints told how long an answer made at `nowMs` may be given again
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
    // Not the object itself: cached answers would keep every version that they were made from in memory.
    const { version, recomposeAtMs } = composed;
    hints.madeFrom(`composed ${chainId}`, () => {
      const latest = sources.composed(chainId);
      return latest.version === version && latest.recomposeAtMs === recomposeAtMs;
    });
    if (recomposeAtMs !== undefined) hints.until(recomposeAtMs);
    return composed;
  });
  const readingsOf = once((chainId: ChainId) => marketsAtReadings(composedOf(chainId)));
  return {
    composed: composedOf,
    marketsAt: (chainId, at) => readingsOf(chainId)(at),
    facts: once((chainId) => {
      const facts = sources.facts(chainId);
      const { version } = facts;
      hints.madeFrom(`facts ${chainId}`, () => sources.facts(chainId).version === version);
      return facts;
    }),
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
    get proxyOwner() {
      return positions().proxyOwner;
    },
    get portfolio() {
      return positions().portfolio;
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

import type { ChainFacts, FactGroup } from '../../domain/facts.ts';
import type { ComposedChain } from '../../domain/market/types.ts';
import type { IndexedStrategy } from '../../domain/strategy/keys.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { Caller } from '../common/caller.ts';

/** Something may have changed on these chains. */
export interface ChangeEvent {
  readonly nowMs: number;
  readonly chainIds: readonly ChainId[];
}

/**
 * Changes for one reader. It has no queue of events, only the chains that changed since the last read: however slow its reader
 * is, it is bounded by the number of chains, and the newest version is read.
 */
export interface ChangeFeed {
  next(): Promise<IteratorResult<ChangeEvent, undefined>>;
  return(): void;
}

export interface FeedOptions {
  /** The limit is per key; callers without a key share one. */
  readonly caller: Caller;
  readonly ticking?: boolean;
  readonly groups?: readonly FactGroup[];
}

/** A version of a chain that a reader has; without its time it may be another one of the same number. */
export interface SeenVersion {
  readonly version: number;
  readonly publishedMs?: number | undefined;
}

export interface ChangesPort {
  /**
   * Follow changes of chains, with `groups` only changes of these; the first event comes at once and names all chains. With
   * `ticking` an event comes every second as well, for values that change with time alone. @throws RateLimitedError, NotReadyError while stopping
   */
  open(field: string, chainIds: readonly ChainId[], options: FeedOptions): ChangeFeed;
  /** Compute the freshness of a chain once per version and second, however many subscriptions compare it. */
  freshnessAt(facts: ChainFacts, second: number, compute: () => string): string;
  /** Keep the answer of a version, so that a reader that returns with it gets only the differences. */
  remember(composed: ComposedChain): void;
  /** The strategies at a version; `null` when this process does not know it (any more), or knows another one of its number. */
  recall(chainId: ChainId, seen: SeenVersion): readonly IndexedStrategy[] | null;
}

import type { FactGroup } from '../../domain/facts.ts';
import type { ComposedChain } from '../../domain/market/types.ts';
import type { IndexedStrategy } from '../../domain/strategy/keys.ts';
import type { ChainId } from '../../shared/ids.ts';

/** Something may have changed on these chains. */
export interface ChangeEvent {
  readonly nowMs: number;
  readonly chainIds: readonly ChainId[];
}

/**
 * Changes for one reader. It holds no events, only which chains changed since it was last asked: however slow its reader
 * is, it is bounded by the number of chains, and what is read is the newest.
 */
export interface ChangeFeed {
  next(): Promise<IteratorResult<ChangeEvent, undefined>>;
  return(): void;
}

export interface FeedOptions {
  /** Who reads, so that one reader cannot take everybody's place: the id of a key; without one, somebody anonymous. */
  readonly keyId?: string | undefined;
  readonly ticking?: boolean;
  readonly groups?: readonly FactGroup[];
}

export interface ChangesPort {
  /**
   * Follow changes of chains, with `groups` only changes of these; the first event comes at once and names all chains. With
   * `ticking` an event comes every second as well, for what changes with time alone. @throws AppError rate_limited when too many are open
   */
  open(field: string, chainIds: readonly ChainId[], options?: FeedOptions): ChangeFeed;
  /** Keep what was shown at a version, so that a reader who comes back with it can be told the difference. */
  remember(composed: ComposedChain): void;
  /** The strategies at a version; `null` when this process does not know it (any more). */
  recall(chainId: ChainId, version: number): readonly IndexedStrategy[] | null;
}

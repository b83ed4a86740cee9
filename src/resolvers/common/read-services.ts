import type { ChainId, Hex } from '../../shared/ids.ts';

/** A block to read at, with the node that has named it. */
export interface PinnedBlock {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly hash: Hex;
  readonly nodeIndex: number;
}

/**
 * State of the block that a read waited for. `included` and `reverted`: the transaction is in a block; `reached`: the
 * block exists. The others could not be waited for: the answer is of the newest block.
 */
export type WaitStatus =
  | 'included'
  | 'reverted'
  | 'reached'
  | 'pending'
  | 'dropped'
  | 'replaced'
  | 'unknown'
  | 'not_reached';

/** The block that a read waits for: of a transaction on one of the chains, or a number on the only one. */
export type WaitTarget =
  | { readonly kind: 'transaction'; readonly hash: Hex }
  | { readonly kind: 'block'; readonly number: bigint };

export interface WaitOutcome {
  readonly status: WaitStatus;
  /** The chain of the block; `null` = the transaction was found on none of them. */
  readonly chainId: ChainId | null;
  /** The block of the transaction, or the requested one; `null` = not known. */
  readonly targetBlock: bigint | null;
  /** The newest block, where to read: at or after the target where that was reached. `null` = not known. */
  readonly block: PinnedBlock | null;
  readonly waitedMs: number;
}

/** The client that waits: a key, or an address. */
export interface WaitingClient {
  readonly identity: string;
  /** The IPv6 network of the address, whose clients count together too. */
  readonly network?: string | undefined;
  readonly tier: 'anonymous' | 'partner' | 'ops';
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
}

/** Waits until a block is there. */
export interface BlockWaitsPort {
  /**
   * Wait for a block, at most for the configured time. The number of waits of one client, and of each tier in this process, is bounded.
   * @throws RateLimitedError for a wait too many, BadRequestError for a block too far ahead or a transaction of another chain,
   * ChainReadError when the node gives no usable answer, or has not reached the block of an included transaction
   */
  wait(target: WaitTarget, chainIds: readonly ChainId[], client: WaitingClient): Promise<WaitOutcome>;
}

/** Facts that a request can have measured again. */
export const REFRESHABLE = ['market_state', 'prices'] as const;
export type Refreshable = (typeof REFRESHABLE)[number];

/**
 * `refreshed`: measured again. `fresh`: young enough. Otherwise why not: `too_recent` = measured so recently that it is not
 * measured again yet; `key_required`; `budget` = the client has no points left for it; `failed` = the source did not answer;
 * `late` = it did not end in time; `unavailable` = no process can run it now.
 */
export type RefreshOutcome =
  | 'refreshed'
  | 'fresh'
  | 'too_recent'
  | 'key_required'
  | 'budget'
  | 'failed'
  | 'late'
  | 'unavailable';

/** Measures facts again when a request needs younger ones. */
export interface RefreshPort {
  /** When the facts were measured, ms: the oldest of those that could be measured at all; `null` = never. */
  measuredAtMs(chainId: ChainId, group: Refreshable): number | null;
  /** The newest block of the market state; `null` = never read. */
  stateBlock(chainId: ChainId): bigint | null;
  /** Whether another measurement is refused now: one was made just before, and the next one is too far away to wait for. */
  isTooRecent(chainId: ChainId, group: Refreshable): boolean;
  /** Measure again, together with all others that ask at the same time. Never throws. */
  refresh(
    chainId: ChainId,
    group: Refreshable,
    isDone: () => boolean,
    signal?: AbortSignal,
  ): Promise<'refreshed' | 'too_recent' | 'failed' | 'late' | 'unavailable'>;
}

export interface FreshReadServices {
  readonly blockWaits: BlockWaitsPort;
  readonly refreshes: RefreshPort;
}

/** The outcome of `afterTx` or `minBlock`. */
export interface ReadAfterReceipt {
  readonly afterTx: Hex | null;
  readonly minBlock: string | null;
  readonly status: WaitStatus;
  /** Whether the answer is of the block or a later one. */
  readonly reached: boolean;
  readonly chainId: ChainId | null;
  /** The block of the transaction, or `minBlock`; `null` = not known. */
  readonly targetBlock: string | null;
  /** The block of the answer; `null` = not known. */
  readonly answeredAtBlock: string | null;
  readonly waitedMs: number;
  readonly pointsCharged: number;
}

/** The outcome of `maxAge` for one group of facts of a chain. */
export interface FreshnessReceipt {
  readonly chainId: ChainId;
  readonly group: Refreshable;
  /** Time of the oldest measurement that the answer has; `null` = never measured. */
  readonly asOf: string | null;
  readonly ageSec: number | null;
  readonly refreshed: boolean;
  readonly outcome: RefreshOutcome;
  readonly pointsCharged: number;
}

/** How fresh the answer of a root field is. */
export interface ReadReceipt {
  /** The field as the query names it. */
  readonly field: string;
  readonly readAfter?: ReadAfterReceipt | undefined;
  readonly freshness?: readonly FreshnessReceipt[] | undefined;
}

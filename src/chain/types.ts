import type { FailureReason } from '../domain/facts.ts';
import type { Address, Hex } from '../shared/ids.ts';

/** One read of one contract, as data: who sends it knows nothing about what it means. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  /** What it usually takes, by which multicalls are cut; 20,000 when left out. */
  readonly gas?: bigint | undefined;
  /** Contracts may lack this view: that it reverts without a word says nothing about the gas. */
  readonly mayBeAbsent?: boolean | undefined;
}

export type CallResult =
  | { readonly ok: true; readonly data: Hex }
  | { readonly ok: false; readonly reason: FailureReason };

/** The block at which everything of one answer was read. */
export interface BlockRef {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What came per key, and why not for the others. Every asked key stands in exactly one of the two. */
export interface Readings<K extends string, T> {
  readonly values: ReadonlyMap<K, T>;
  readonly failures: ReadonlyMap<K, FailureReason>;
}

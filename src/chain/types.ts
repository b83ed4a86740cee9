import type { FailureReason } from '../domain/facts.ts';
import type { Address, Hex } from '../shared/ids.ts';

/** One read of one contract, as data. The sender does not depend on its meaning. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  /** Usual gas, for splitting multicalls; default 20,000. */
  readonly gas?: bigint | undefined;
  /** Contracts may lack this view: a revert without data is then no sign of missing gas. */
  readonly mayBeAbsent?: boolean | undefined;
}

export type CallResult =
  | { readonly ok: true; readonly data: Hex }
  | { readonly ok: false; readonly reason: FailureReason };

/** The block of all values of one answer. */
export interface BlockRef {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Values by key, and failure reasons for the others. Every requested key is in exactly one of the two. */
export interface Readings<K extends string, T> {
  readonly values: ReadonlyMap<K, T>;
  readonly failures: ReadonlyMap<K, FailureReason>;
}

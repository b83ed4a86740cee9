/**
 * Collects, while an answer is made, how long it may be given again: until a moment, and as long as everything it was read
 * from is still the same object. What nobody declared safe makes the answer good for one time only.
 */
export interface Validity {
  /** The moment that the answer is made for. Who reads it here says with `until` when that would read differently. */
  readonly nowMs: number;
  /** Bound the answer: from `atMs` on it would read differently. */
  until(atMs: number): void;
  /** Tie the answer to a source, as long as `same` says so. `key` names the source, so that it is asked once. */
  tie(key: string, same: () => boolean): void;
  /** Make the answer good for one time only. */
  once(): void;
}

/** What was collected, asked when the answer could be given again. */
export interface Collected extends Validity {
  /** Exclusive, ms; Infinity without a bound. */
  readonly untilMs: number;
  /** Whether it may be given again at all. */
  readonly reusable: boolean;
  /** Whether the sources are still the same; asked as often as the answer is given. */
  holds(): boolean;
}

/** Start collecting for an answer that is made for the moment `nowMs`. */
export function collectValidity(nowMs: number): Collected {
  const ties = new Map<string, () => boolean>();
  let checks: readonly (() => boolean)[] | undefined;
  let untilMs = Number.POSITIVE_INFINITY;
  let reusable = true;
  return {
    nowMs,
    until(atMs) {
      if (atMs < untilMs) untilMs = atMs;
    },
    tie(key, same) {
      if (ties.has(key)) return;
      ties.set(key, same);
      checks = undefined;
    },
    once() {
      reusable = false;
    },
    get untilMs() {
      return untilMs;
    },
    get reusable() {
      return reusable;
    },
    holds() {
      checks ??= [...ties.values()];
      for (const same of checks) if (!same()) return false;
      return true;
    },
  };
}

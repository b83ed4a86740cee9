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

/** How long a finished answer holds. */
export interface Settled {
  /** Exclusive, ms; Infinity without a bound. */
  readonly untilMs: number;
  /** Whether it may be given again at all. */
  readonly reusable: boolean;
  /** Whether the sources are still the same; asked as often as the answer is given. */
  holds(): boolean;
}

/** What was collected so far. */
export interface Collected extends Validity, Settled {
  /** What there is to know once the answer is made, and no more: it is kept for as long as the answer is. */
  settled(): Settled;
}

/** Start collecting for an answer that is made for the moment `nowMs`. */
export function collectValidity(nowMs: number): Collected {
  const ties = new Map<string, () => boolean>();
  // Plain fields: an object with getters has a shape of its own, which costs more than all that it holds.
  const collected = {
    nowMs,
    untilMs: Number.POSITIVE_INFINITY,
    reusable: true,
    until(atMs: number) {
      if (atMs < collected.untilMs) collected.untilMs = atMs;
    },
    tie(key: string, same: () => boolean) {
      if (!ties.has(key)) ties.set(key, same);
    },
    once() {
      collected.reusable = false;
    },
    holds: () => all(ties.values()),
    settled: () => settle(collected.untilMs, collected.reusable, [...ties.values()]),
  };
  return collected;
}

function settle(untilMs: number, reusable: boolean, checks: readonly (() => boolean)[]): Settled {
  const [only] = checks;
  return { untilMs, reusable, holds: checks.length === 1 && only ? only : () => all(checks) };
}

function all(checks: Iterable<() => boolean>): boolean {
  for (const same of checks) if (!same()) return false;
  return true;
}

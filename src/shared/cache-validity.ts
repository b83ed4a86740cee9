/** How long a finished answer may be given again. */
export interface CacheValidity {
  /** Exclusive, ms; Infinity without a bound. */
  readonly untilMs: number;
  /** Whether every source of the answer still has the version that the answer was made from. */
  isCurrent(): boolean;
}

/** Collects, while an answer is made, how long it may be given again. Whoever reads something for the answer says so here. */
export interface CacheHints {
  /** The answer reads differently from `atMs` on. */
  until(atMs: number): void;
  /** The answer is made from a version of `source`, for as long as `isCurrent` says so. A source is compared once. */
  madeFrom(source: string, isCurrent: () => boolean): void;
  /** The answer is made from something without a version: it is good for one time. */
  never(): void;
  /** What was collected; `undefined` = the answer may not be given again. */
  validity(): CacheValidity | undefined;
}

/** Start collecting for one answer. */
export function createCacheHints(): CacheHints {
  const sources = new Map<string, () => boolean>();
  let untilMs = Number.POSITIVE_INFINITY;
  let cacheable = true;
  return {
    until(atMs) {
      if (atMs < untilMs) untilMs = atMs;
    },
    madeFrom(source, isCurrent) {
      if (!sources.has(source)) sources.set(source, isCurrent);
    },
    never() {
      cacheable = false;
    },
    validity() {
      if (!cacheable) return undefined;
      const checks = [...sources.values()];
      return { untilMs, isCurrent: () => checks.every((isCurrent) => isCurrent()) };
    },
  };
}

/** Whether an answer may be given at `nowMs`. */
export function isValidAt({ untilMs, isCurrent }: CacheValidity, nowMs: number): boolean {
  return nowMs < untilMs && isCurrent();
}

/** How long a finished answer may be served from a cache. */
export interface CacheValidity {
  /** Exclusive, ms; Infinity without a bound. */
  readonly untilMs: number;
  /** Whether every source of the answer still has the version that the answer was made from. */
  isCurrent(): boolean;
}

/** Collects the cache validity of an answer while it is made. Every reader of a source for the answer reports to it. */
export interface CacheHints {
  /** The answer changes at `atMs`. */
  until(atMs: number): void;
  /**
   * The answer was made from a version of `source`, and is valid while `isCurrent` returns true. Each source is registered
   * once.
   */
  madeFrom(source: string, isCurrent: () => boolean): void;
  /** The answer depends on something without a version and must not be cached. */
  never(): void;
  /** The collected validity; `undefined` = the answer must not be cached. */
  validity(): CacheValidity | undefined;
}

/** Create the hints of one answer. */
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

/** Whether an answer may be served at `nowMs`. */
export function isValidAt({ untilMs, isCurrent }: CacheValidity, nowMs: number): boolean {
  return nowMs < untilMs && isCurrent();
}

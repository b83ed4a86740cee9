import { LRUCache } from 'lru-cache';
import { settlesWithin } from './calls/wait-timeout.ts';
import type { Clock } from './clock.ts';
import { isFromFuture } from './observed.ts';
import type { Timers } from './timers.ts';

export interface Loaded<V> {
  readonly value: V;
  readonly loadedAtMs: number;
}

/** Failure of a source. */
export interface Outage {
  /** Error of the latest load; `undefined` = the load exceeded the wait timeout. */
  readonly error: unknown;
  readonly sinceMs: number;
}

export interface Served<V> extends Loaded<V> {
  /** Whether the value is an older one, because loading a new one failed or took too long. */
  readonly stale: boolean;
  /** Current outage of the source; `null` = the last load succeeded. */
  readonly outage: Outage | null;
}

export interface StaleIfErrorOptions<V, C> {
  readonly clock: Clock;
  /** Maximum number of cached values, or of their bytes, keys included. */
  readonly bounds: { readonly max: number } | { readonly maxBytes: number; readonly bytesOf: (value: V) => number };
  /** How long a loaded value is served without another load, ms. */
  readonly freshMs: number | ((key: string) => number);
  /** Maximum age of a value that is served in place of a failed load, ms; 0 = never. Ignored with a `fallback`. */
  readonly staleMs?: number | undefined;
  /** Choose the value that is served in place of a failed load; absent: the cached value for `staleMs`. */
  readonly fallback?: ((key: string, context: C, held: Loaded<V> | undefined) => Loaded<V> | undefined) | undefined;
  /** `previous` is the value that would be served on failure: a load may throw instead of returning less than that. */
  readonly load: (key: string, context: C, previous: V | undefined) => Promise<V>;
  /** Whether a loaded value is cached; absent: all are. */
  readonly isCacheable?: ((value: V) => boolean) | undefined;
  /** Which errors are outages; absent: all. Any other error is an answer of the source, and the cached value is dropped. */
  readonly isOutage?: ((error: unknown) => boolean) | undefined;
  /** How long a caller waits for a load while there is a fallback; absent: until it ends. */
  readonly wait?:
    | {
        readonly timers: Timers;
        readonly ms: number;
        readonly outageMs?: number | undefined;
        /** Whether a load that exceeds the timeout counts as an outage. */
        readonly isOutage?: boolean | undefined;
      }
    | undefined;
  /** Pause between loads after a failure while there is a fallback, ms. */
  readonly pauseMs?: number | undefined;
  /** Whether the pause applies without a fallback too: the failure is rethrown. */
  readonly failFast?: boolean | undefined;
  readonly onOutage?: (() => void) | undefined;
  readonly onRecovery?: ((outageMs: number) => void) | undefined;
}

export interface StaleIfError<V, C> {
  /**
   * Get the value of a key: a fresh one from the cache, otherwise a loaded one, otherwise an older one.
   * @throws the error of the load
   */
  get(key: string, context: C): Promise<Served<V>>;
  /** The cached value, regardless of its age. */
  peek(key: string): Loaded<V> | undefined;
  outage(): Outage | null;
}

/** Memory of an entry beside its value and key. */
const ENTRY_BYTES = 512;

interface Fetch<V, C> {
  readonly context: C;
  readonly previous: V | undefined;
}

/**
 * Cache loaded values, and serve older ones while loads fail (`stale-if-error`, RFC 5861). One load per key at a time, shared
 * by all callers. A value with a load time in the future (the clock was set back) is neither fresh nor usable.
 */
export function createStaleIfError<V, C = void>(options: StaleIfErrorOptions<V, C>): StaleIfError<V, C> {
  const { clock, bounds, freshMs, staleMs = 0, load, isCacheable, isOutage = () => true, wait, pauseMs = 0 } = options;
  const freshMsOf = typeof freshMs === 'number' ? () => freshMs : freshMs;
  let outage: (Outage & { readonly triedAtMs: number }) | null = null;

  const isYounger = (atMs: number, thanMs: number): boolean => {
    const nowMs = clock.now();
    return !isFromFuture(atMs, nowMs) && nowMs - atMs < thanMs;
  };
  const fallbackOf =
    options.fallback ??
    ((_key: string, _context: C, held: Loaded<V> | undefined) =>
      held !== undefined && isYounger(held.loadedAtMs, staleMs + 1) ? held : undefined);
  const noteOutage = (error?: unknown): void => {
    const isNew = outage === null;
    const nowMs = clock.now();
    outage = { error, sinceMs: outage?.sinceMs ?? nowMs, triedAtMs: nowMs };
    if (isNew) options.onOutage?.();
  };
  const noteAnswer = (): void => {
    const ended = outage;
    outage = null;
    if (ended !== null) options.onRecovery?.(clock.now() - ended.sinceMs);
  };
  const outageNow = (): Outage | null => outage && { error: outage.error, sinceMs: outage.sinceMs };
  const older = (fallback: Loaded<V>): Served<V> => ({ ...fallback, stale: true, outage: outageNow() });

  const cache = new LRUCache<string, Loaded<V>, Fetch<V, C>>({
    ...('max' in bounds
      ? { max: bounds.max }
      : {
          maxSize: bounds.maxBytes,
          sizeCalculation: ({ value }, key) => bounds.bytesOf(value) + 2 * key.length + ENTRY_BYTES,
        }),
    // A load whose entry was evicted still answers its callers.
    ignoreFetchAbort: true,
    noDeleteOnFetchRejection: true,
    async fetchMethod(key, _held, { context: { context, previous } }) {
      try {
        const value = await load(key, context, previous);
        noteAnswer();
        return { value, loadedAtMs: clock.now() };
      } catch (error) {
        if (isOutage(error)) noteOutage(error);
        else noteAnswer();
        throw error;
      }
    },
  });

  return {
    async get(key, context) {
      const held = cache.get(key);
      if (held !== undefined && isYounger(held.loadedAtMs, freshMsOf(key)))
        return { ...held, stale: false, outage: null };
      const before = fallbackOf(key, context, held);
      if (outage !== null && isYounger(outage.triedAtMs, pauseMs)) {
        if (before !== undefined) return older(before);
        if (options.failFast) throw outage.error;
      }
      const loading = cache.forceFetch(key, { context: { context, previous: before?.value }, forceRefresh: true });
      if (before !== undefined && wait !== undefined) {
        const waitMs = outage === null ? wait.ms : (wait.outageMs ?? wait.ms);
        if (!(await settlesWithin(loading, waitMs, wait.timers))) {
          if (wait.isOutage) noteOutage();
          return older(before);
        }
      }
      try {
        const loaded = await loading;
        if (isCacheable?.(loaded.value) === false) cache.delete(key);
        return { ...loaded, stale: false, outage: null };
      } catch (error) {
        if (!isOutage(error)) cache.delete(key);
        const instead = isOutage(error) ? fallbackOf(key, context, held) : undefined;
        if (instead === undefined) throw error;
        return older(instead);
      }
    },
    peek: (key) => cache.peek(key),
    outage: outageNow,
  };
}

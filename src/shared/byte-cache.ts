import { LRUCache } from 'lru-cache';

export interface ByteCacheOptions<V> {
  /** Most bytes cached, by `bytesOf`. */
  readonly maxBytes: number;
  /** What an entry costs in memory, its key included. */
  readonly bytesOf: (value: V, key: string) => number;
}

/** How full a cache is, for metrics. */
export interface CacheFill {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly entries: number;
}

export interface ByteCache<V> extends CacheFill {
  /** Find a value. What was found once is no longer on trial. */
  get(key: string): V | undefined;
  /** Find a value without counting as a request for it. */
  peek(key: string): V | undefined;
  /**
   * Cache a value, in the place of one with the same key; the same one again when its cost has changed. A value that is larger
   * than the trial part is not cached.
   */
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Share of the bytes for values that nobody has asked for a second time yet. */
const TRIAL_SHARE = 1 / 8;

/**
 * Cache values in bounded memory, in two parts that evict the least recently used: values that nobody has asked for a second
 * time (an eighth of the bytes) and the others. Requests that are never repeated, however many, displace only each other.
 */
export function createByteCache<V extends object>({ maxBytes, bytesOf }: ByteCacheOptions<V>): ByteCache<V> {
  const trialBytes = Math.max(1, Math.floor(maxBytes * TRIAL_SHARE));
  const trial = new LRUCache<string, V>({ maxSize: trialBytes, sizeCalculation: bytesOf });
  const proven = new LRUCache<string, V>({ maxSize: Math.max(1, maxBytes - trialBytes), sizeCalculation: bytesOf });
  return {
    get(key) {
      const known = proven.get(key);
      if (known !== undefined) return known;
      const asked = trial.get(key);
      if (asked === undefined) return undefined;
      trial.delete(key);
      proven.set(key, asked);
      return asked;
    },
    peek: (key) => proven.peek(key) ?? trial.peek(key),
    set(key, value) {
      const part = proven.has(key) ? proven : trial;
      // The cache measures what it has not got.
      if (part.peek(key) === value) part.delete(key);
      part.set(key, value);
    },
    delete(key) {
      proven.delete(key);
      trial.delete(key);
    },
    maxBytes,
    get bytes() {
      return trial.calculatedSize + proven.calculatedSize;
    },
    get entries() {
      return trial.size + proven.size;
    },
  };
}

import { LRUCache } from 'lru-cache';

export interface ByteCacheOptions<V> {
  /** Maximum bytes in the cache, by `bytesOf`. */
  readonly maxBytes: number;
  /** Memory of an entry, its key included. */
  readonly bytesOf: (value: V, key: string) => number;
}

/** Fill of a cache, for metrics. */
export interface CacheFill {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly entries: number;
}

export interface ByteCache<V> extends CacheFill {
  /** Get a value. Its entry moves from the probation part to the main part. */
  get(key: string): V | undefined;
  /** Get a value without counting it as a request. */
  peek(key: string): V | undefined;
  /**
   * Cache a value, and replace one with the same key. Call it again with the same value when its size has changed. A value
   * that is larger than the probation part is not cached.
   */
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Share of the bytes for values that were not requested a second time yet. */
const TRIAL_SHARE = 1 / 8;

/**
 * Create a cache with bounded memory, in two LRU parts: values that were not requested a second time (an eighth of the bytes)
 * and the others. Requests that are never repeated displace only each other.
 */
export function createByteCache<V extends object>({ maxBytes, bytesOf }: ByteCacheOptions<V>): ByteCache<V> {
  const trialBytes = Math.max(1, Math.floor(maxBytes * TRIAL_SHARE));
  const trial = new LRUCache<string, V>({ maxSize: trialBytes, sizeCalculation: bytesOf });
  const proven = new LRUCache<string, V>({ maxSize: Math.max(1, maxBytes - trialBytes), sizeCalculation: bytesOf });
  return {
    get(key) {
      const known = proven.get(key);
      if (known !== undefined) return known;
      const onTrial = trial.get(key);
      if (onTrial === undefined) return undefined;
      trial.delete(key);
      proven.set(key, onTrial);
      return onTrial;
    },
    peek: (key) => proven.peek(key) ?? trial.peek(key),
    set(key, value) {
      const part = proven.has(key) ? proven : trial;
      // `delete` measures the current entry, so another value of the same key is not removed here.
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

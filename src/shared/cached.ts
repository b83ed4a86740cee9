import { LRUCache } from 'lru-cache';

export interface KeptOptions<V> {
  /** Most bytes kept, by `bytesOf`. */
  readonly maxBytes: number;
  /** What keeping an entry costs in memory, its key included. */
  readonly bytesOf: (value: V, key: string) => number;
}

/** Where the bytes of a store stand, for metrics. */
export interface Fill {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly entries: number;
}

export interface Kept<V> extends Fill {
  /** Find a value. Whatever is found once is no longer on trial. */
  get(key: string): V | undefined;
  /** Find a value without counting as a question. */
  peek(key: string): V | undefined;
  /**
   * Keep a value, in the place of one with the same key; the same one again when its cost has changed. What is larger than
   * the place for new ones is not kept.
   */
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Share of the bytes for what nobody has asked for a second time yet. */
const TRIAL_SHARE = 1 / 8;

/**
 * Keep values in bounded memory, those on trial and those that were asked for again apart: what was not asked for longest
 * goes first, and questions that are never repeated, however many, displace only one another and take an eighth.
 */
export function createKept<V extends object>({ maxBytes, bytesOf }: KeptOptions<V>): Kept<V> {
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

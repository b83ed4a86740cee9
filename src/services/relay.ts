import { LRUCache } from 'lru-cache';
import type { Clock } from '../shared/clock.ts';

export interface Relayed<V> {
  readonly value: V;
  readonly fetchedAtMs: number;
  /** The load failed and this is the previous value. */
  readonly stale: boolean;
}

export interface RelayDeps<V> {
  readonly clock: Clock;
  /** How long a loaded value is served without asking again, ms. */
  readonly freshMs: number;
  /** How old a previous value may be when it has to stand in for a failed load, ms; 0 = never. */
  readonly standInMs: number;
  /** Most bytes of values kept, their keys included. */
  readonly maxBytes: number;
  /** What a value costs in memory. */
  readonly bytesOf: (value: V) => number;
  /** `previous` is the value that would stand in: a load may throw rather than give less than that. */
  readonly load: (key: string, previous?: V) => Promise<V>;
}

/** What an entry costs beside its value and its key. */
const ENTRY_BYTES = 512;

/**
 * Relay an upstream on demand: one load in flight per key however many ask, fresh values from memory, and the previous
 * value (marked stale) when a load fails. Bounded by `maxBytes`.
 */
export function createRelay<V>({
  clock,
  freshMs,
  standInMs,
  maxBytes,
  bytesOf,
  load,
}: RelayDeps<V>): (key: string) => Promise<Relayed<V>> {
  const kept = new LRUCache<string, { readonly value: V; readonly fetchedAtMs: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ value }, key) => bytesOf(value) + 2 * key.length + ENTRY_BYTES,
  });
  const inFlight = new Map<string, Promise<Relayed<V>>>();

  const loadOnce = async (key: string): Promise<Relayed<V>> => {
    const standIn = () => {
      const previous = kept.get(key);
      return previous && clock.now() - previous.fetchedAtMs <= standInMs ? previous : undefined;
    };
    try {
      const entry = { value: await load(key, standIn()?.value), fetchedAtMs: clock.now() };
      kept.set(key, entry);
      return { ...entry, stale: false };
    } catch (error) {
      const previous = standIn();
      if (previous) return { ...previous, stale: true };
      throw error;
    }
  };

  return (key) => {
    const entry = kept.get(key);
    if (entry && clock.now() - entry.fetchedAtMs < freshMs) return Promise.resolve({ ...entry, stale: false });
    const running = inFlight.get(key) ?? loadOnce(key).finally(() => inFlight.delete(key));
    inFlight.set(key, running);
    return running;
  };
}

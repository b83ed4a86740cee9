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
  readonly maxEntries: number;
  /** `previous` is the value that would stand in: a load may throw rather than give less than that. */
  readonly load: (key: string, previous?: V) => Promise<V>;
}

/**
 * Relay an upstream on demand: one load in flight per key however many ask, fresh values from memory, and the previous
 * value (marked stale) when a load fails. Bounded by `maxEntries`.
 */
export function createRelay<V>({
  clock,
  freshMs,
  standInMs,
  maxEntries,
  load,
}: RelayDeps<V>): (key: string) => Promise<Relayed<V>> {
  const kept = new LRUCache<string, { readonly value: V; readonly fetchedAtMs: number }>({ max: maxEntries });
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

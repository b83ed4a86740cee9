import { LRUCache } from 'lru-cache';
import type { Clock } from '../shared/clock.ts';

export interface Count {
  /** Points used in the current window, including these. Negative points are refunds. */
  readonly used: number;
  readonly msLeft: number;
}

/** Counts points per identity in fixed windows. */
export interface Counters {
  add(identity: string, points: number): Count;
}

export interface CounterOptions {
  readonly windowSec: number;
  /** Maximum number of identities; the least recently seen one is evicted first. */
  readonly max: number;
}

/**
 * Create counters of this process. Memory is bounded by `max`: an evicted identity starts a new window, and an active identity
 * is not evicted. A clock that is set back starts a new window.
 */
export function createMemoryCounters({ windowSec, max }: CounterOptions, clock: Clock): Counters {
  const windowMs = windowSec * 1000;
  const windows = new LRUCache<string, { used: number; endsAtMs: number }>({ max });
  return {
    add(identity, points) {
      const nowMs = clock.now();
      const known = windows.get(identity);
      const isRunning = known !== undefined && known.endsAtMs > nowMs && known.endsAtMs <= nowMs + windowMs;
      const window = isRunning ? known : { used: 0, endsAtMs: nowMs + windowMs };
      // A refund after the end of its window must not add to the next one.
      window.used = Math.max(0, window.used + points);
      if (!isRunning) windows.set(identity, window);
      return { used: window.used, msLeft: window.endsAtMs - nowMs };
    },
  };
}

import { LRUCache } from 'lru-cache';
import type { Clock } from '../shared/clock.ts';

export interface Count {
  /** Points used in the running window, these included. Points below zero are given back. */
  readonly used: number;
  /** Milliseconds until the window ends. */
  readonly msLeft: number;
}

/** Counts points per identity in fixed windows. */
export interface Counters {
  add(identity: string, points: number): Count;
}

export interface CounterOptions {
  readonly windowSec: number;
  /** Most identities remembered; the least recently seen one is forgotten first. */
  readonly max: number;
}

/**
 * Count in this process. Memory is bounded by `max`, however many identities come: who is forgotten starts a new window,
 * and who keeps asking is never forgotten. A clock that is set back begins a new window.
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
      // What is given back after its window has ended is not owed by the next one.
      window.used = Math.max(0, window.used + points);
      if (!isRunning) windows.set(identity, window);
      return { used: window.used, msLeft: window.endsAtMs - nowMs };
    },
  };
}

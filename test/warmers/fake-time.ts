import type { Clock } from '../../src/shared/clock.ts';
import type { Timers } from '../../src/shared/timers.ts';

export interface FakeTime {
  readonly clock: Clock;
  readonly timers: Timers;
  /** When the pending timers fire, ms from now, soonest first. */
  pending(): readonly number[];
  /** Advance the time: timers fire in order, and their work runs until it waits for an external event. */
  advance(ms: number): Promise<void>;
}

/** Run all ready tasks. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** A clock and timers that move only on request. */
export function fakeTime(startMs = 1_000_000): FakeTime {
  let nowMs = startMs;
  let next = 0;
  const timers = new Map<number, { atMs: number; callback: () => void }>();
  const soonest = () => [...timers].sort(([, a], [, b]) => a.atMs - b.atMs)[0];
  return {
    clock: { now: () => nowMs },
    timers: {
      setTimeout: (callback, ms) => {
        next += 1;
        timers.set(next, { atMs: nowMs + ms, callback });
        return next;
      },
      clearTimeout: (handle) => {
        timers.delete(handle as number);
      },
    },
    pending: () => [...timers.values()].map(({ atMs }) => atMs - nowMs).sort((a, b) => a - b),
    advance: async (ms) => {
      const untilMs = nowMs + ms;
      await settle();
      for (let timer = soonest(); timer && timer[1].atMs <= untilMs; timer = soonest()) {
        timers.delete(timer[0]);
        nowMs = Math.max(nowMs, timer[1].atMs);
        timer[1].callback();
        await settle();
      }
      nowMs = untilMs;
    },
  };
}

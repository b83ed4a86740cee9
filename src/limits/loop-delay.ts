import type { Timers } from '../shared/timers.ts';

export interface LoopDelay {
  /** The delay that every turn of the event loop had within the last second, ms: a single pause does not count. */
  lastingMs(): number;
  stop(): void;
}

const SAMPLE_MS = 50;
const WINDOW_MS = 1_000;
/** Fewer samples say nothing: a process that was paused has one late sample. */
const MIN_SAMPLES = 2;

/** Measure by how much timers are late, for admission. */
export function createLoopDelay(now: () => number, timers: Timers): LoopDelay {
  let samples: { readonly atMs: number; readonly lateMs: number }[] = [];
  let timer: unknown;
  const sample = (): void => {
    const dueMs = now() + SAMPLE_MS;
    timer = timers.setTimeout(() => {
      const atMs = now();
      samples = [...samples.filter((one) => atMs - one.atMs < WINDOW_MS), { atMs, lateMs: Math.max(0, atMs - dueMs) }];
      sample();
    }, SAMPLE_MS);
    // It keeps no process that is otherwise done.
    (timer as { unref?: () => void } | null)?.unref?.();
  };
  sample();
  return {
    lastingMs() {
      const recent = samples.filter(({ atMs }) => now() - atMs < WINDOW_MS);
      return recent.length < MIN_SAMPLES ? 0 : Math.min(...recent.map(({ lateMs }) => lateMs));
    },
    stop: () => timers.clearTimeout(timer),
  };
}

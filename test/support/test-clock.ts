import type { Clock } from '../../src/shared/clock.ts';

const DAY_MS = 86_400_000;

/**
 * Start of the clocks of local worlds, ms: ten past noon (UTC) of the day of the test run. No hour and no
 * day ends unless a test advances the clock, and values derived from the date are equal everywhere.
 */
export const WORLD_START_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS + 43_800_000;

/**
 * A clock that runs with the real one and can be moved ahead without waiting. When held, it stands still:
 * two requests happen at the same time, however long the machine takes between them.
 */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Hold the clock: time passes only by `advance`. Other processes continue. */
  hold(): void;
  /** Continue with the real clock from the held time. */
  release(): void;
}

export function createTestClock(startAtMs = WORLD_START_MS): TestClock {
  let offsetMs = startAtMs - Date.now();
  let heldAtMs: number | null = null;
  const now = () => heldAtMs ?? Date.now() + offsetMs;
  return {
    now,
    advance(ms) {
      if (heldAtMs === null) offsetMs += ms;
      else heldAtMs += ms;
    },
    hold() {
      heldAtMs ??= now();
    },
    release() {
      if (heldAtMs === null) return;
      offsetMs = heldAtMs - Date.now();
      heldAtMs = null;
    },
  };
}

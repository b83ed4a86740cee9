import type { Clock } from '../../src/shared/clock.ts';

const DAY_MS = 86_400_000;

/**
 * Where the clocks of local worlds start, ms: ten past noon (UTC) of the day on which the tests were started. No hour and no
 * day ends before a test lets it, and whatever is made of the date alone is the same wherever it is made.
 */
export const WORLD_START_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS + 43_800_000;

/**
 * A clock that runs with the real one and can be moved ahead: time passes without waiting for it. Held, it stands still:
 * what is asked for twice is asked at one moment, however long the machine takes between the two.
 */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Stand still from now on: time passes by `advance` alone. Processes beside the service run on. */
  hold(): void;
  /** Run on with the real clock, from the time that it stands at. */
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

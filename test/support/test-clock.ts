import type { Clock } from '../../src/shared/clock.ts';

/**
 * Start of the clocks of local worlds, ms: ten past noon (UTC) of one fixed day, so that answers are equal in every run. No hour
 * and no day ends unless a test advances the clock.
 */
export const WORLD_START_MS = Date.UTC(2026, 10, 20, 12, 10);

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

export function createTestClock(startAtMs = WORLD_START_MS, isHeld = false): TestClock {
  let offsetMs = startAtMs - Date.now();
  let heldAtMs: number | null = isHeld ? startAtMs : null;
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

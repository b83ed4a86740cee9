/** An event is given up after these attempts, some three and a half hours after the first. */
export const MAX_ATTEMPTS = 12;
const FIRST_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 3_600_000;
/** Part of a pause that is random, so that events that failed together do not return together. */
const JITTER = 0.2;

/**
 * Compute the pause before the next attempt, ms: doubled after each, with jitter, at most an hour. The wish of a receiver to wait
 * longer is granted up to that bound. `null` = the event is given up.
 * @param attempts number of attempts so far
 * @param random uniform in [0, 1)
 */
export function pauseAfterAttempt(
  attempts: number,
  random: number,
  requestedSec: number | undefined = undefined,
): number | null {
  if (attempts >= MAX_ATTEMPTS) return null;
  const doubled = FIRST_PAUSE_MS * 2 ** Math.max(0, attempts - 1);
  const pauseMs = Math.max(doubled, (requestedSec ?? 0) * 1_000);
  return Math.round(Math.min(pauseMs, MAX_PAUSE_MS) * (1 - JITTER / 2 + JITTER * random));
}

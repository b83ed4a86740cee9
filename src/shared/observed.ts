/** How far ahead of our clock an observation may claim to be: block times and clocks of machines differ by seconds, not minutes. */
export const MAX_AHEAD_MS = 2 * 60_000;

/**
 * Say whether an observation (a block, a row, a sample) claims a time that our clock has not reached: its age cannot be told,
 * and it would refuse every true one as older. Starts, ends and maturities are no observations: they may lie ahead.
 */
export function isFromFuture(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + MAX_AHEAD_MS;
}

/** Tell the time that an observation counts as, ms: up to two minutes ahead is now. `null` = it is from the future. */
export function observedAt(atMs: number, nowMs: number): number | null {
  return isFromFuture(atMs, nowMs) ? null : Math.min(atMs, nowMs);
}

/** Maximum lead of an observation's time over our clock: block times and clocks of machines differ by seconds, not minutes. */
export const MAX_AHEAD_MS = 2 * 60_000;

/**
 * Check whether an observation (a block, a row, a sample) has a time in the future: its age is unknown, and it would displace
 * every correct one as older. Starts, ends and maturities are no observations: they may lie ahead.
 */
export function isFromFuture(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + MAX_AHEAD_MS;
}

/**
 * Return the effective time of an observation, ms: a lead of up to two minutes counts as now. `null` = it is from the future.
 */
export function observedAt(atMs: number, nowMs: number): number | null {
  return isFromFuture(atMs, nowMs) ? null : Math.min(atMs, nowMs);
}

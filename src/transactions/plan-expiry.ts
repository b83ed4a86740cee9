import type { PlannedSwap } from './types.ts';

/** Longest time for which a plan may be signed, ms. */
const MAX_LIFE_MS = 60_000;

/** When a plan that is made now expires, ms: with its earliest quote, and after 60 s at the latest. */
export function planExpiry(nowMs: number, swaps: readonly PlannedSwap[]): number {
  return Math.min(nowMs + MAX_LIFE_MS, ...swaps.map(({ quote }) => quote.expiresAtMs));
}

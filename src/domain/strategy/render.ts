import { DAY_MS } from '../apy/series.ts';

/** Count the whole days until a maturity in unix seconds. */
export function maturityDaysLeft(maturity: number | null, nowMs: number): number | null {
  if (maturity === null) return null;
  return Math.max(0, Math.floor((maturity * 1_000 - nowMs) / DAY_MS));
}

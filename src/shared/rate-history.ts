import type { Decimal } from './decimal.ts';

export interface RatePoint {
  /** Start of the day that is meant, or the time of the sample, ms. */
  readonly atMs: number;
  /** Percent per year, exact. */
  readonly ratePct: Decimal;
}

/** Points, oldest first. */
export type RateHistory = readonly RatePoint[];

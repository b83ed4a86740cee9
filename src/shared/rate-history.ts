import type { Decimal } from './decimal.ts';

export interface RatePoint {
  /** Start of the day of a daily mean, or the time of a sample, ms. */
  readonly atMs: number;
  /** Percent per year, exact. */
  readonly ratePct: Decimal;
}

/** Points, oldest first. */
export type RateHistory = readonly RatePoint[];

import { staleForSec } from '../domain/freshness/stamp.ts';
import type { Stamp } from '../domain/freshness/types.ts';

export interface Age {
  /** Whole seconds since the value was measured, never negative. */
  readonly ageSec: number;
  readonly stale: boolean;
  /** Whole seconds past the budget, rounded up; `null` while fresh. */
  readonly staleForSec: number | null;
}

/** Tell how old a stamped value is at `nowMs`. */
export function ageOf(stamp: Stamp, nowMs: number): Age {
  const overdue = staleForSec(stamp, nowMs) ?? null;
  return {
    ageSec: Math.max(0, Math.floor((nowMs - stamp.asOfMs) / 1000)),
    stale: overdue !== null,
    staleForSec: overdue,
  };
}

import { isStale, nextChangeMs, staleForSec } from '../../domain/freshness/stamp.ts';
import type { Stamp } from '../../domain/freshness/types.ts';
import { maturityDaysLeft } from '../../domain/strategy/render.ts';
import type { AppContext } from './context.ts';

export interface Age {
  /** Whole seconds since the value was measured, never negative. */
  readonly ageSec: number;
  readonly stale: boolean;
  /** Whole seconds past the budget, rounded up; `null` while fresh. */
  readonly staleForSec: number | null;
}

/** Compute the age of a stamped value at `nowMs`. */
export function ageOf(stamp: Stamp, nowMs: number): Age {
  const overdue = staleForSec(stamp, nowMs) ?? null;
  return {
    ageSec: Math.max(0, Math.floor((nowMs - stamp.asOfMs) / 1000)),
    stale: overdue !== null,
    staleForSec: overdue,
  };
}

/** Compute how far a value is past its budget; the answer is valid until that changes. */
export function staleForSecIn(stamp: Stamp, ctx: AppContext): number | null {
  const nowMs = momentOf(ctx);
  ctx.cacheHints.until(nextChangeMs([stamp], nowMs) ?? Number.POSITIVE_INFINITY);
  return staleForSec(stamp, nowMs) ?? null;
}

/** Whether a value is past its budget; the answer is valid until that changes. */
export function isStaleIn(stamp: Stamp, ctx: AppContext): boolean {
  const nowMs = momentOf(ctx);
  const stale = isStale(stamp, nowMs);
  if (!stale) ctx.cacheHints.until(nextChangeMs([stamp], nowMs) ?? Number.POSITIVE_INFINITY);
  return stale;
}

const DAY_MS = 86_400_000;

/** Count in an answer the whole days until a maturity in unix seconds; the answer holds until there is one less. */
export function maturityDaysLeftIn(maturity: number | null, ctx: AppContext): number | null {
  const days = maturityDaysLeft(maturity, momentOf(ctx));
  if (maturity !== null && days !== null && days > 0) ctx.cacheHints.until(maturity * 1_000 - days * DAY_MS + 1);
  return days;
}

/** Read the moment of an answer. The caller says with `cacheHints.until` when it would read differently. */
export function momentOf({ nowMs }: AppContext): number {
  return nowMs;
}

const SECOND_MS = 1_000;

/** Read the moment of an answer for something that changes every second, such as an age: the answer holds for a second. */
export function secondOf({ nowMs, cacheHints }: AppContext): number {
  cacheHints.until(nowMs + SECOND_MS);
  return nowMs;
}

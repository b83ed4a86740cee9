import type { Stamp } from './types.ts';

/** A stamp rendered at one moment. */
export interface RenderedStamp {
  /** ISO 8601, UTC. */
  readonly asOf: string;
  readonly staleAfterSec: number;
  /** Whole seconds past the budget, rounded up; absent while fresh. */
  readonly staleForSec?: number | undefined;
}

/** Stamp a measured value with the freshness budget of its group, in seconds. */
export function stampOf(fact: { readonly asOfMs: number }, budgetSec: number): Stamp {
  return { asOfMs: fact.asOfMs, staleAfterSec: budgetSec };
}

/** Time of a value that was never measured, so that its age always exceeds the budget. */
export const NEVER_MS = 0;

/** Count the seconds past the budget, rounded up, so that a value is stale exactly when its age exceeds the budget; `undefined` while fresh. */
export function staleForSec(stamp: Stamp, nowMs: number): number | undefined {
  const overdueMs = nowMs - staleFromMs(stamp);
  return overdueMs > 0 ? Math.ceil(overdueMs / 1_000) : undefined;
}

export function isStale(stamp: Stamp, nowMs: number): boolean {
  return nowMs > staleFromMs(stamp);
}

/** Render a stamp at `nowMs`. */
export function renderStamp(stamp: Stamp, nowMs: number): RenderedStamp {
  const overdue = staleForSec(stamp, nowMs);
  return {
    asOf: new Date(stamp.asOfMs).toISOString(),
    staleAfterSec: stamp.staleAfterSec,
    staleForSec: overdue,
  };
}

/**
 * Return the next moment at which these stamps render differently: when a fresh one becomes stale, or the age of a stale one
 * grows by a second. `undefined` without stamps.
 */
export function nextChangeMs(stamps: readonly Stamp[], nowMs: number): number | undefined {
  let next: number | undefined;
  for (const stamp of stamps) {
    const change = staleFromMs(stamp) + (staleForSec(stamp, nowMs) ?? 0) * 1_000 + 1;
    if (next === undefined || change < next) next = change;
  }
  return next;
}

/** Pick the stamp whose budget ends first, for a value that is computed from several. */
export function earliestStale(first: Stamp, ...others: readonly Stamp[]): Stamp {
  return others.reduce((worst, stamp) => (staleFromMs(stamp) < staleFromMs(worst) ? stamp : worst), first);
}

function staleFromMs(stamp: Stamp): number {
  return stamp.asOfMs + stamp.staleAfterSec * 1_000;
}

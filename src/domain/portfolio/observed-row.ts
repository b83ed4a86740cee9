import { observedAt } from '../../shared/observed.ts';
import type { RegisteredPosition, RegisteredRow } from './types.ts';

/**
 * Check a row's times, which another process wrote. A time at most two minutes ahead is set to now; a later one becomes
 * unknown.
 */
export function observedRow(row: RegisteredRow, nowMs: number): RegisteredPosition {
  return {
    ...row,
    openedAtMs: observedAt(row.createdAtMs, nowMs),
    createdAtMs: Math.min(row.createdAtMs, nowMs),
    updatedAtMs: Math.min(row.updatedAtMs, nowMs),
    closedAtMs: row.closedAtMs === null ? null : observedAt(row.closedAtMs, nowMs),
  };
}

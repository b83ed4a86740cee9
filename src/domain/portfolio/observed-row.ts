import { observedAt } from '../../shared/observed.ts';
import type { RegisteredPosition, RegisteredRow } from './types.ts';

/**
 * Take a row's times as what they are: told by another process. None is shown later than now, and of one that is more than
 * two minutes ahead nobody knows when that was.
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

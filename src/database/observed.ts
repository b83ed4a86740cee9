import { type RawBuilder, sql } from 'kysely';
import { MAX_AHEAD_MS } from '../shared/observed.ts';

/** The latest time that a stored observation may carry: of a later one the age cannot be told, and it is neither read nor kept. */
export function latestObserved(nowMs: number): Date {
  return new Date(nowMs + MAX_AHEAD_MS);
}

/** Whether a sample may take the place of the one stored for its time: it is as new, or the stored one is ahead of our clock. */
export function replaces(table: string, nowMs: number): RawBuilder<boolean> {
  const stored = sql.ref(`${table}.sampled_at`);
  return sql<boolean>`(excluded.sampled_at >= ${stored} or ${stored} > ${new Date(nowMs)}::timestamptz)`;
}

import { type RawBuilder, sql } from 'kysely';
import { MAX_AHEAD_MS } from '../shared/observed.ts';

/** The latest plausible time of a stored observation. A later one is neither read nor kept, because its age is unknown. */
export function latestObserved(nowMs: number): Date {
  return new Date(nowMs + MAX_AHEAD_MS);
}

/** Whether a sample may replace the stored one of its time: it is at least as new, or the stored one is from the future. */
export function replaces(table: string, nowMs: number): RawBuilder<boolean> {
  const stored = sql.ref(`${table}.sampled_at`);
  return sql<boolean>`(excluded.sampled_at >= ${stored} or ${stored} > ${new Date(nowMs)}::timestamptz)`;
}

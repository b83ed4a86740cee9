import { sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { Database } from './client.ts';
import { latestObserved } from './observed.ts';
import { SAMPLE_RETENTION_DAYS } from './samples.ts';

const DAY_MS = 86_400_000;

/** Use of one key on one UTC day. */
export interface UsageDay {
  readonly keyId: string;
  /** Start of the day. */
  readonly dayMs: number;
  readonly calls: number;
  readonly points: number;
  readonly refusals: number;
}

export interface KeyUsageRepository {
  /** Add counts to the stored ones. One statement. */
  add(counts: readonly UsageDay[]): Promise<void>;
  /** Read the days of a key since a time, oldest first. */
  since(keyId: string, fromMs: number): Promise<readonly UsageDay[]>;
  /** Remove rows that are older than `SAMPLE_RETENTION_DAYS` or from the future, and return their number. */
  prune(): Promise<number>;
}

/** Create the repository of the use of keys. Every call may throw `UpstreamUnavailableError`. */
export function createKeyUsageRepository(db: Database, clock: Clock): KeyUsageRepository {
  return {
    async add(counts) {
      if (counts.length === 0) return;
      const rows = counts.map(({ keyId, dayMs, ...of }) => ({ key_id: keyId, day: new Date(dayMs), ...of }));
      await db
        .insertInto('key_usage')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['key_id', 'day']).doUpdateSet({
            calls: sql`key_usage.calls + excluded.calls`,
            points: sql`key_usage.points + excluded.points`,
            refusals: sql`key_usage.refusals + excluded.refusals`,
          }),
        )
        .execute();
    },
    async since(keyId, fromMs) {
      const rows = await db
        .selectFrom('key_usage')
        .selectAll()
        .where('key_id', '=', keyId)
        .where('day', '>=', new Date(fromMs))
        .where('day', '<=', latestObserved(clock.now()))
        .orderBy('day')
        .execute();
      return rows.map((row) => ({
        keyId,
        dayMs: row.day.getTime(),
        calls: Number(row.calls),
        points: Number(row.points),
        refusals: Number(row.refusals),
      }));
    },
    async prune() {
      const nowMs = clock.now();
      const oldest = new Date(nowMs - SAMPLE_RETENTION_DAYS * DAY_MS);
      const removed = await db
        .deleteFrom('key_usage')
        .where(({ eb, or }) => or([eb('day', '<', oldest), eb('day', '>', latestObserved(nowMs))]))
        .executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}

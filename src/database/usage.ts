import { sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import { AppError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Database } from './client.ts';

const FLUSH_MS = 10_000;
/** Bounds memory while the database is away: keys and days beyond it are not counted. */
const MAX_PENDING = 50_000;

export interface UsageDay {
  readonly keyId: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly requests: number;
}

export interface UsageRecorder {
  /** Count a request. Returns at once. */
  record(keyId: string): void;
  /** Write what was counted; it stays counted when the database does not answer. */
  flush(): Promise<void>;
  /** Stop the timer and flush. Before the database is closed. */
  close(): Promise<void>;
}

/** Count requests per key and day in memory and add them to the database in one statement, every ten seconds. */
export function createUsageRecorder(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}): UsageRecorder {
  let pending = new Map<string, UsageDay>();
  let running: Promise<void> = Promise.resolve();

  const add = (usage: UsageDay): void => {
    const id = `${usage.day} ${usage.keyId}`;
    const known = pending.get(id);
    if (known === undefined && pending.size >= MAX_PENDING) return;
    pending.set(id, known === undefined ? usage : { ...known, requests: known.requests + usage.requests });
  };
  const write = async (): Promise<void> => {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await addUsage(deps.db, [...batch.values()]);
    } catch (error) {
      for (const usage of batch.values()) add(usage);
      deps.logger.debug({ code: error instanceof AppError ? error.code : 'internal' }, 'key usage not written yet');
    }
  };
  const flush = (): Promise<void> => {
    running = running.then(write); // one after the other: a batch is never written twice
    return running;
  };
  const timer = setInterval(flush, FLUSH_MS).unref();
  return {
    record: (keyId) => add({ keyId, day: dayOf(deps.clock.now()), requests: 1 }),
    flush,
    close: () => {
      clearInterval(timer);
      return flush();
    },
  };
}

/** Read the requests per key and day since a day, newest day first. @throws UpstreamUnavailableError */
export async function readUsage(db: Database, range: { readonly fromMs: number }): Promise<readonly UsageDay[]> {
  const rows = await db
    .selectFrom('key_usage')
    .select(['key_id', sql<string>`to_char(day, 'YYYY-MM-DD')`.as('day'), 'requests'])
    .where('day', '>=', dayOf(range.fromMs))
    .orderBy('key_usage.day', 'desc')
    .orderBy('key_id')
    .execute();
  return rows.map((row) => ({ keyId: row.key_id, day: row.day, requests: Number(row.requests) }));
}

async function addUsage(db: Database, usages: readonly UsageDay[]): Promise<void> {
  await sql`
    insert into key_usage (key_id, day, requests)
    select * from unnest(
      ${usages.map((usage) => usage.keyId)}::text[],
      ${usages.map((usage) => usage.day)}::date[],
      ${usages.map((usage) => String(usage.requests))}::bigint[]
    )
    on conflict (key_id, day) do update set requests = key_usage.requests + excluded.requests`.execute(db);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

import { sql } from 'kysely';
import { AppError } from '../shared/errors.ts';
import { type Logger, silentLogger } from '../shared/logger.ts';
import { createDatabase, type Database } from './client.ts';
import { type Migration, migrations } from './migrations/index.ts';

/** Any constant, as long as nothing else in the database locks it. */
const LOCK_KEY = 7_164_300_113;
/** Longest wait for another process that migrates, and longest run of one step. */
const STEP_TIMEOUT_MS = 120_000;

/** The database was migrated by a newer version of the service, whose data this one might misread. */
export class DatabaseTooNewError extends AppError<{ readonly unknown: readonly string[]; readonly latest: string }> {
  constructor(unknown: readonly string[], latest: string) {
    super(
      'internal',
      `The database holds the migrations ${unknown.join(', ')}, and this version knows none after ${latest}. Deploy the newer version, or set DATABASE_URL to another database.`,
      { details: { unknown, latest } },
    );
  }
}

/**
 * Bring the database up to this version, and return the names of what was applied. All or nothing, in one transaction
 * under an advisory lock, so that any number of processes may start at once. Uses a connection of its own, because a
 * step may run longer than a request's statement may.
 * @throws DatabaseTooNewError, UpstreamUnavailableError
 */
export async function migrateDatabase(
  url: string,
  options: { readonly logger?: Logger | undefined; readonly known?: readonly Migration[] | undefined } = {},
): Promise<readonly string[]> {
  const logger = options.logger ?? silentLogger;
  const db = createDatabase({ url, poolSize: 1, statementTimeoutMs: STEP_TIMEOUT_MS }, { logger });
  try {
    const applied = await migrateUp(db, options.known ?? migrations);
    if (applied.length > 0) logger.info({ applied }, 'database migrated');
    return applied;
  } finally {
    await db.destroy();
  }
}

function migrateUp(db: Database, known: readonly Migration[]): Promise<readonly string[]> {
  return db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${LOCK_KEY})`.execute(transaction);
    await sql`
      create table if not exists gateway_migrations (
        name text primary key,
        applied_at timestamptz not null default now()
      )`.execute(transaction);
    const { rows } = await sql<{ name: string }>`select name from gateway_migrations order by name`.execute(
      transaction,
    );
    const done = new Set(rows.map((row) => row.name));
    const unknown = [...done].filter((name) => !known.some((migration) => migration.name === name));
    if (unknown.length > 0) throw new DatabaseTooNewError(unknown, known.at(-1)?.name ?? 'none');
    const missing = known.filter((migration) => !done.has(migration.name));
    for (const migration of missing) {
      for (const statement of migration.up) await statement.execute(transaction);
      await sql`insert into gateway_migrations (name) values (${migration.name})`.execute(transaction);
    }
    return missing.map((migration) => migration.name);
  });
}

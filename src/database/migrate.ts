import { sql } from 'kysely';
import { AppError } from '../shared/errors.ts';
import { type Logger, silentLogger } from '../shared/logger.ts';
import { createDatabase, type Database } from './client.ts';
import { type Migration, migrations } from './migrations/index.ts';

/** Any constant that nothing else in the database locks. */
const LOCK_KEY = 7_164_300_113;
/** Timeout for the lock of another process that migrates, and for one step. */
const STEP_TIMEOUT_MS = 120_000;

/** A newer version of the service has migrated the database; this version could misread its data. */
export class DatabaseTooNewError extends AppError<{ readonly unknown: readonly string[]; readonly latest: string }> {
  constructor(unknown: readonly string[], latest: string) {
    super(
      'internal',
      `The database has the migrations ${unknown.join(', ')}, which are newer than ${latest}, the latest of this version. Deploy the newer version, or set DATABASE_URL to another database.`,
      { details: { unknown, latest } },
    );
  }
}

/**
 * Migrate the database to this version, and return the names of the applied steps. All or nothing, in one transaction under an
 * advisory lock, so that any number of processes may start at once. Uses a separate connection, because a step may exceed the
 * statement timeout of requests.
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

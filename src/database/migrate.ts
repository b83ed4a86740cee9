import { sql } from 'kysely';
import { StartupError } from '../shared/errors.ts';
import { type Logger, silentLogger } from '../shared/logger.ts';
import { createDatabase, type Database } from './client.ts';
import { DatabaseUnavailableError } from './connection/errors.ts';
import { type Migration, migrations } from './migrations/index.ts';
import { readSchemaState, type SchemaState } from './schema-state.ts';

/** Any constant that no other code locks in the database. */
const LOCK_KEY = 7_164_300_113;
/** Timeout for the lock of another process that migrates, and for one step. */
const STEP_TIMEOUT_MS = 120_000;

export interface MigrateOptions {
  readonly logger?: Logger | undefined;
  readonly known?: readonly Migration[] | undefined;
}

/** Migrations are pending and were not applied. The message says how to apply them. */
export class NotMigratedError extends StartupError {
  override readonly name = 'NotMigratedError';
  constructor(pending: readonly string[], why: string) {
    super(
      `DATABASE_URL: the migrations ${pending.join(', ')} are not applied, and ${why}. Run "npm run migrate" (node dist/migrate.js) with a role that may create tables, then start again.`,
    );
  }
}

/**
 * Migrate the database to this version, and return the names of the applied steps. All or nothing, in one transaction under an
 * advisory lock, so that any number of processes may start at once. Uses a separate connection, because a step may exceed the
 * statement timeout of requests. Without a pending step it only reads.
 * @throws DatabaseTooNewError, NotMigratedError when the role or the database does not permit it, UpstreamUnavailableError
 */
export function migrateDatabase(url: string, options: MigrateOptions = {}): Promise<readonly string[]> {
  const logger = options.logger ?? silentLogger;
  return withConnection(url, logger, async (db) => {
    const { pending } = await stateOf(db, options);
    if (pending.length === 0) return [];
    try {
      const applied = await migrateUp(db, options.known ?? migrations);
      if (applied.length > 0) logger.info({ applied }, 'database migrated');
      return applied;
    } catch (error) {
      const problem = error instanceof DatabaseUnavailableError ? error.problem : undefined;
      if (problem === 'no_right') throw new NotMigratedError(pending, 'the role of DATABASE_URL may not apply them');
      if (problem === 'read_only') throw new NotMigratedError(pending, 'the database is read-only');
      throw error;
    }
  });
}

/**
 * Check that every migration of this version is applied, without a write.
 * @throws DatabaseTooNewError, NotMigratedError, UpstreamUnavailableError
 */
export function requireMigrated(url: string, options: MigrateOptions = {}): Promise<void> {
  return withConnection(url, options.logger ?? silentLogger, async (db) => {
    const { pending } = await stateOf(db, options);
    if (pending.length > 0) throw new NotMigratedError(pending, 'MIGRATE_ON_START is false');
  });
}

/** Read which migrations are pending and which are of newer versions. @throws DatabaseTooNewError, UpstreamUnavailableError */
export function inspectSchema(url: string, options: MigrateOptions = {}): Promise<SchemaState> {
  return withConnection(url, options.logger ?? silentLogger, (db) => stateOf(db, options));
}

async function stateOf(db: Database, { known = migrations, logger = silentLogger }: MigrateOptions) {
  const state = await readSchemaState(db, known);
  if (state.newer.length > 0) logger.info({ newer: state.newer }, 'the schema is of a newer version');
  return state;
}

async function withConnection<T>(url: string, logger: Logger, work: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({ url, poolSize: 1, statementTimeoutMs: STEP_TIMEOUT_MS }, { logger });
  try {
    return await work(db);
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
    await sql`alter table gateway_migrations add column if not exists requires text`.execute(transaction);
    const { pending } = await readSchemaState(transaction, known);
    for (const { name, up, requires } of known) {
      if (!pending.includes(name)) continue;
      for (const statement of up) await statement.execute(transaction);
      await sql`insert into gateway_migrations (name, requires) values (${name}, ${requires ?? null})`.execute(
        transaction,
      );
    }
    return pending;
  });
}

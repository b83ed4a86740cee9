import { sql } from 'kysely';
import { StartupError } from '../shared/errors.ts';
import type { Database } from './client.ts';
import type { Migration } from './migrations/index.ts';

/** The table of applied migrations. Its role needs SELECT on it to start. */
export const MIGRATIONS_TABLE = 'gateway_migrations';

/** How the schema of the database relates to this version. */
export interface SchemaState {
  /** Migrations of this version that are not applied, oldest first. */
  readonly pending: readonly string[];
  /** Applied migrations of newer versions: this version runs beside them. */
  readonly newer: readonly string[];
}

/** A newer version removed something that this version uses. */
export class DatabaseTooNewError extends StartupError {
  override readonly name = 'DatabaseTooNewError';
  constructor(unknown: readonly string[], requires: string) {
    super(
      `DATABASE_URL: the database has the migrations ${unknown.join(', ')}, which need a version that knows ${requires}. Deploy that version or a newer one, or set DATABASE_URL to another database.`,
    );
  }
}

/**
 * Compare the applied migrations with those of this version. Only reads, so that it works with a role without CREATE and on a
 * read-only database.
 * @throws DatabaseTooNewError, UpstreamUnavailableError
 */
export async function readSchemaState(db: Database, known: readonly Migration[]): Promise<SchemaState> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass(${MIGRATIONS_TABLE}) is not null as exists`.execute(db);
  if (tables[0]?.exists !== true) return schemaStateOf([], known);
  // The column is younger than the table.
  const { rows } = await sql<{ name: string; requires: string | null }>`
    select name, to_jsonb(applied) ->> 'requires' as requires
    from ${sql.table(MIGRATIONS_TABLE)} applied order by name`.execute(db);
  return schemaStateOf(rows, known);
}

/** @throws DatabaseTooNewError */
export function schemaStateOf(
  applied: readonly { readonly name: string; readonly requires: string | null }[],
  known: readonly Migration[],
): SchemaState {
  const done = new Set(applied.map(({ name }) => name));
  const ours = new Set(known.map(({ name }) => name));
  const newer = applied.filter(({ name }) => !ours.has(name));
  const demand = newer.findLast(({ requires }) => requires !== null && !ours.has(requires))?.requires;
  const names = newer.map(({ name }) => name);
  if (demand != null) throw new DatabaseTooNewError(names, demand);
  return { pending: known.map(({ name }) => name).filter((name) => !done.has(name)), newer: names };
}

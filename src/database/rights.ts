import pg from 'pg';
import { TABLE_RIGHTS } from './schema.ts';
import { MIGRATIONS_TABLE } from './schema-state.ts';

/** Return the SQL that gives a role what the service needs to run on a migrated database: no right to create or change tables. */
export function grantsFor(role: string): string {
  const to = pg.escapeIdentifier(role);
  const tables = Object.entries({ ...TABLE_RIGHTS, [MIGRATIONS_TABLE]: ['SELECT'] });
  return tables.map(([table, rights]) => `GRANT ${rights.join(', ')} ON ${table} TO ${to};\n`).join('');
}

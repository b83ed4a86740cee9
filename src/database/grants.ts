import pg from 'pg';
import { TABLE_RIGHTS } from './schema.ts';
import { MIGRATIONS_TABLE } from './schema-state.ts';

/** Return the SQL that grants a role the rights of the service on a migrated database: none to create or change tables. */
export function grantsFor(role: string): string {
  const to = pg.escapeIdentifier(role);
  const tables = Object.entries({ ...TABLE_RIGHTS, [MIGRATIONS_TABLE]: ['SELECT'] });
  return tables.map(([table, rights]) => `GRANT ${rights.join(', ')} ON ${table} TO ${to};\n`).join('');
}

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { type Migration, migrations } from '../../src/database/migrations/index.ts';
import { captureLogs } from '../support/log-capture.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await openMigratedDatabase();
});
afterAll(() => database.close());

describe('migrateDatabase', () => {
  const known = ['0001_a', '0002_b', '0003_c'].map((name) => ({ name, up: [] }));

  test('behavior: versions that migrate at once wait for one lock, which is the same in all of them', async () => {
    let migrated = false;
    let migrating: Promise<unknown> = Promise.resolve();
    await database.db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(7164300113)`.execute(transaction);
      migrating = migrateDatabase(database.url, { known: [...known, { name: '9999_z', up: [sql`select 1`] }] }).then(
        () => {
          migrated = true;
        },
      );
      for (;;) {
        const { rows } = await sql`select 1 from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`.execute(transaction);
        if (rows.length > 0) break;
      }
      expect(migrated).toBe(false);
    });
    await migrating;
    await sql`delete from gateway_migrations where name ~ '^(0001_a|0002_b|0003_c|9999_z)$'`.execute(database.db);
  });

  test('behavior: applied migrations are logged once, and a schema of a newer version is named', async () => {
    const logs = captureLogs();
    const more = { name: '9998_y', up: [sql`select 1`] };
    const run = (own: readonly Migration[]) => migrateDatabase(database.url, { logger: logs.logger, known: own });
    expect(await run([...migrations, more])).toEqual(['9998_y']);
    await run([...migrations, more]);
    await run(migrations);
    expect(logs.take()).toEqual([
      'info database migrated {"applied":["9998_y"]}',
      'info the schema is of a newer version {"newer":["9998_y"]}',
    ]);
    await sql`delete from gateway_migrations where name = '9998_y'`.execute(database.db);
  });
});

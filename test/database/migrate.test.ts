import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { DatabaseTooNewError, migrateDatabase } from '../../src/database/migrate.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

const NAMES = migrations.map((migration) => migration.name);

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, poolSize: 2, statementTimeoutMs: 5_000 });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

async function appliedNames(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from gateway_migrations order by name`.execute(db);
  return rows.map((row) => row.name);
}

async function tableNames(): Promise<string[]> {
  const tables = await db.introspection.getTables();
  return tables.map((table) => table.name).sort();
}

describe('migrateDatabase', () => {
  test('default: applies all migrations to a new database', async () => {
    expect(await migrateDatabase(database.url)).toEqual(NAMES);
    expect(await appliedNames()).toEqual(NAMES);
    expect(await tableNames()).toMatchInlineSnapshot(`
      [
        "api_keys",
        "apy_samples",
        "drift_sightings",
        "gateway_migrations",
        "incentive_campaigns",
        "portfolio_samples",
        "position_proxies",
        "position_registrations",
        "rate_samples",
      ]
    `);
  });

  test('behavior: names are unique and in the order of application', () => {
    expect(NAMES).toEqual([...new Set(NAMES)].sort());
  });

  test('behavior: a second run changes nothing', async () => {
    await migrateDatabase(database.url);
    expect(await migrateDatabase(database.url)).toEqual([]);
    expect(await appliedNames()).toEqual(NAMES);
  });

  test('behavior: concurrent processes apply each step once', async () => {
    const results = await Promise.all(Array.from({ length: 6 }, () => migrateDatabase(database.url)));
    expect(results.filter((applied) => applied.length > 0)).toEqual([NAMES]);
    expect(await appliedNames()).toEqual(NAMES);
  });

  test('behavior: applies a later step to an existing database', async () => {
    await migrateDatabase(database.url, { known: migrations.slice(0, 1) });
    expect(await migrateDatabase(database.url)).toEqual(NAMES.slice(1));
  });

  test('behavior: rolls back a failing step', async () => {
    const broken = { name: '9999_broken', up: [sql`create table half (id integer)`, sql`select no_such_column`] };
    await expect(migrateDatabase(database.url, { known: [...migrations, broken] })).rejects.toThrow();
    expect(await tableNames()).toEqual([]);
    expect(await migrateDatabase(database.url)).toEqual(NAMES);
  });

  test('error: DatabaseTooNewError', async () => {
    const future = { name: '9999_future', up: [sql`create table future (id integer)`] };
    await migrateDatabase(database.url, { known: [...migrations, future] });
    const refusal = migrateDatabase(database.url);
    await expect(refusal).rejects.toBeInstanceOf(DatabaseTooNewError);
    await expect(refusal).rejects.toMatchObject({
      code: 'internal',
      details: { unknown: ['9999_future'], latest: NAMES.at(-1) },
    });
  });
});

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { grantsFor } from '../../src/database/grants.ts';
import { inspectSchema, migrateDatabase, NotMigratedError, requireMigrated } from '../../src/database/migrate.ts';
import { type Migration, migrations } from '../../src/database/migrations/index.ts';
import { DatabaseTooNewError } from '../../src/database/schema-state.ts';
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
        "alert_deliveries",
        "alert_jobs",
        "alerts",
        "api_keys",
        "apy_samples",
        "drift_history",
        "drift_sightings",
        "gateway_migrations",
        "incentive_campaigns",
        "indexer_blocks",
        "indexer_cursor",
        "key_usage",
        "market_marks",
        "market_samples",
        "portfolio_samples",
        "position_events",
        "position_proxies",
        "position_registrations",
        "rate_samples",
        "tvl_samples",
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

  test('behavior: a version before runs on the schema of an expanding migration, which it does not know', async () => {
    const future = { name: '9999_future', up: [sql`alter table api_keys add column note text`] };
    await migrateDatabase(database.url, { known: [...migrations, future] });
    expect(await inspectSchema(database.url)).toEqual({ pending: [], newer: ['9999_future'] });
    expect(await migrateDatabase(database.url)).toEqual([]);
    await expect(requireMigrated(database.url)).resolves.toBeUndefined();
  });

  test('error: DatabaseTooNewError for a version from before the one that a contracting migration requires', async () => {
    const expand = { name: '9998_expand', up: [sql`alter table api_keys add column note text`] };
    const contract = {
      name: '9999_contract',
      up: [sql`alter table api_keys drop column label`],
      requires: expand.name,
    };
    const all = [...migrations, expand, contract];
    await migrateDatabase(database.url, { known: all });
    // The version in between knows the required migration; the version before does not.
    expect(await migrateDatabase(database.url, { known: all.slice(0, -1) })).toEqual([]);
    for (const start of [migrateDatabase, requireMigrated]) {
      const refused = start(database.url);
      await expect(refused).rejects.toThrow(DatabaseTooNewError);
      await expect(refused).rejects.toThrow(
        'DATABASE_URL: the database has the migrations 9998_expand, 9999_contract, which need a version that knows 9998_expand.',
      );
    }
  });

  test('behavior: notes the requirement in a table of migrations from before the column', async () => {
    await migrateDatabase(database.url);
    await sql`alter table gateway_migrations drop column requires`.execute(db);
    expect(await inspectSchema(database.url)).toEqual({ pending: [], newer: [] });
    const next: Migration = { name: '9999_next', up: [sql`select 1`], requires: '0006_recorded_rates' };
    expect(await migrateDatabase(database.url, { known: [...migrations, next] })).toEqual(['9999_next']);
    expect(await migrateDatabase(database.url)).toEqual([]);
  });
});

describe('a role without the right to create tables', () => {
  const role = `reader_${randomUUID().slice(0, 8)}`;
  let url: string;
  beforeEach(async () => {
    await sql`create role ${sql.id(role)} login password 'secret'`.execute(db);
    url = Object.assign(new URL(database.url), { username: role, password: 'secret' }).href;
  });
  afterEach(async () => {
    await sql`drop owned by ${sql.id(role)}`.execute(db);
    await sql`drop role ${sql.id(role)}`.execute(db);
  });

  test('behavior: starts when everything is applied, with the rights that the command prints', async () => {
    await migrateDatabase(database.url);
    await sql.raw(grantsFor(role)).execute(db);
    expect(await migrateDatabase(url)).toEqual([]);
    await expect(requireMigrated(url)).resolves.toBeUndefined();
  });

  test('error: NotMigratedError that names the migrations and the command', async () => {
    await migrateDatabase(database.url, { known: migrations.slice(0, -1) });
    const tables = await tableNames();
    const isPresent = (grant: string) => tables.some((table) => grant.includes(` ON ${table} `));
    const grants = grantsFor(role).split('\n').filter(isPresent).join('\n');
    await sql.raw(grants).execute(db);
    const refusal = migrateDatabase(url);
    await expect(refusal).rejects.toThrow(NotMigratedError);
    await expect(refusal).rejects.toThrow(
      `DATABASE_URL: the migrations ${NAMES.at(-1)} are not applied, and the role of DATABASE_URL may not apply them. Run "npm run migrate"`,
    );
    expect(await appliedNames()).toEqual(NAMES.slice(0, -1));
  });

  test('error: names the missing right on the table of migrations', async () => {
    await migrateDatabase(database.url);
    await expect(migrateDatabase(url)).rejects.toMatchObject({ problem: 'no_right' });
  });
});

describe('a read-only database', () => {
  beforeEach(() => migrateDatabase(database.url, { known: migrations.slice(0, -1) }));
  const setReadOnly = async () => {
    const name = new URL(database.url).pathname.slice(1);
    await sql`alter database ${sql.id(name)} set default_transaction_read_only = on`.execute(db);
  };

  test('behavior: starts when everything is applied', async () => {
    await migrateDatabase(database.url);
    await setReadOnly();
    expect(await migrateDatabase(database.url)).toEqual([]);
  });

  test('error: NotMigratedError', async () => {
    await setReadOnly();
    const refusal = migrateDatabase(database.url);
    await expect(refusal).rejects.toThrow(NotMigratedError);
    await expect(refusal).rejects.toThrow('are not applied, and the database is read-only.');
  });
});

describe('requireMigrated', () => {
  test('error: NotMigratedError on an empty database, without a write', async () => {
    await expect(requireMigrated(database.url)).rejects.toThrow(NotMigratedError);
    expect(await tableNames()).toEqual([]);
  });
});

describe('the migrations of this version', () => {
  /** Statements that a version before may not survive. */
  const CONTRACTING = /\b(drop|rename|truncate|set not null|alter column \S+ type|add (constraint|check|unique))\b/i;
  const ADDED_REQUIRED = /add column (?!.*\bdefault\b).*\bnot null\b/is;
  const textOf = (migration: Migration) =>
    migration.up.map((statement) => statement.compile(db).sql.replace(/\s+/g, ' ')).join(';\n');
  const isContracting = (migration: Migration) =>
    CONTRACTING.test(textOf(migration)) || ADDED_REQUIRED.test(textOf(migration));

  test('behavior: one that removes or changes something names the migration that running versions know', () => {
    for (const [i, migration] of migrations.entries()) {
      if (!isContracting(migration)) continue;
      expect(NAMES.slice(0, i), migration.name).toContain(migration.requires);
    }
  });

  test.each([
    'alter table api_keys drop column label',
    'alter table api_keys rename label to note',
    'alter table api_keys alter column label type integer',
    'alter table api_keys add column note text not null',
    'alter table api_keys alter column label set not null',
  ])('behavior: recognises %s', (text) => {
    expect(isContracting({ name: 'x', up: [sql.raw(text)] })).toBe(true);
  });
});

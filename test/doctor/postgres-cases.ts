import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startPgBouncer } from '../support/process/pgbouncer.ts';
import { createTestDatabase } from '../support/process/postgres.ts';
import type { OutsideWorld } from './world.ts';

async function onDatabase(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The content of a database without system objects: relations, types and functions by name, and every row. */
async function contentOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const own = "n.nspname not like 'pg_%' and n.nspname <> 'information_schema'";
    const { rows } = await client.query(`
      select 'relation' as kind, n.nspname || '.' || c.relname as name,
        case when c.relkind in ('r', 'p') then query_to_xml(format('select * from %s t order by t::text', c.oid::regclass), true, false, '')::text end as rows
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${own}
      union all select 'function', p.oid::regprocedure::text, null from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${own}
      union all select 'schema', n.nspname, null from pg_namespace n where ${own}
      order by 1, 2`);
    return JSON.stringify(rows);
  } finally {
    await client.end();
  }
}

/** Findings about `DATABASE_URL`, on a real server. */
export function postgresCases({ doctor, of, look, examine }: OutsideWorld): void {
  const failure = (check: string) => `failure postgres DATABASE_URL [${check}]`;
  const warning = (check: string) => `warning postgres DATABASE_URL [${check}]`;

  it('behavior: no server, and a wrong password', async () => {
    const url = new URL(doctor().database.url);
    url.port = String(await freePort());
    expect(await examine('postgres', { DATABASE_URL: url.href })).toEqual([failure('answers')]);
    await onDatabase(
      inject('postgresUrl'),
      "create role doctor_reader login password 'right'",
      `grant connect on database ${new URL(doctor().database.url).pathname.slice(1)} to doctor_reader`,
    );
    const wrong = new URL(doctor().database.url);
    [wrong.username, wrong.password] = ['doctor_reader', 'wrong-password'];
    const report = await look({ DATABASE_URL: wrong.href }, 'postgres');
    expect(of(report, 'postgres')).toEqual([failure('answers')]);
    expect(JSON.stringify(report)).not.toContain('wrong-password');
  });

  it('behavior: names the missing rights of a role', async () => {
    const url = new URL(doctor().database.url);
    [url.username, url.password] = ['doctor_reader', 'right'];
    await onDatabase(
      doctor().database.url,
      'grant usage on schema public to doctor_reader',
      'grant select on gateway_migrations, rate_samples to doctor_reader',
    );
    const report = await look({ DATABASE_URL: url.href }, 'postgres');
    expect(of(report, 'postgres')).toEqual([failure('rights')]);
    const found = report.lines.find(({ check }) => check === 'rights')?.found;
    expect(found).toContain('INSERT, UPDATE, DELETE on rate_samples');
  });

  it('behavior: pending and unknown migrations, and a read-only database', async () => {
    const empty = await createTestDatabase();
    try {
      expect(await examine('postgres', { DATABASE_URL: empty.url })).toEqual([warning('migrations')]);
      await onDatabase(doctor().database.url, "insert into gateway_migrations (name) values ('9999-from-the-future')");
      const beside = await look({}, 'postgres');
      expect(of(beside, 'postgres')).toEqual([]);
      expect(beside.lines.find(({ check }) => check === 'migrations')?.found).toContain('9999-from-the-future');
      await onDatabase(
        doctor().database.url,
        "update gateway_migrations set requires = '9998' where name like '9999%'",
      );
      expect(await examine('postgres')).toEqual([failure('migrations')]);
      await onDatabase(doctor().database.url, "delete from gateway_migrations where name like '9999%'");
      const name = new URL(empty.url).pathname.slice(1);
      await onDatabase(inject('postgresUrl'), `alter database ${name} set default_transaction_read_only = on`);
      expect(await examine('postgres', { DATABASE_URL: empty.url })).toContain(failure('writable'));
    } finally {
      await empty.drop();
    }
  });

  it('behavior: writes and creates nothing', async () => {
    const empty = await createTestDatabase();
    try {
      const before = await Promise.all([contentOf(doctor().database.url), contentOf(empty.url)]);
      expect(before[0]).toContain('gateway_migrations');
      for (const url of [doctor().database.url, empty.url]) await look({ DATABASE_URL: url }, 'postgres');
      expect(await Promise.all([contentOf(doctor().database.url), contentOf(empty.url)])).toEqual(before);
    } finally {
      await empty.drop();
    }
  });

  it.each([
    ['as installed', []],
    ['that ignores limits', ['ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout']],
  ])('behavior: recognises PgBouncer in transaction mode %s, and finds no fault', async (_, settings) => {
    const pooler = await startPgBouncer(doctor().database.url, settings);
    try {
      const report = await look({ DATABASE_URL: pooler.url }, 'postgres');
      expect(of(report, 'postgres')).toEqual([]);
      expect(report.lines.find(({ check }) => check === 'pooler')?.found).toContain('transaction mode');
    } finally {
      await pooler.stop();
    }
  });
}

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startPostgres } from '../../devnet/postgres.ts';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { AppError, UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

let database: TestDatabase;
let db: Database;
let logged: string[] = [];
const logger: Logger = {
  ...silentLogger,
  info: (_, msg) => logged.push(msg),
  warn: (_, msg) => logged.push(msg),
  error: (_, msg) => logged.push(msg),
};

beforeEach(async () => {
  logged = [];
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, poolSize: 2, statementTimeoutMs: 5_000 }, { logger });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

async function ping(client: Database): Promise<void> {
  await sql`select 1`.execute(client);
}

function outcome(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'ok',
    (error: unknown) => error,
  );
}

/** Everything of an error that a log or an answer could show. */
function everythingIn(error: unknown): string {
  if (!(error instanceof AppError)) throw new Error('not an AppError');
  return [error.message, String(error.cause), JSON.stringify(error), JSON.stringify(error.details)].join('\n');
}

describe('createDatabase', () => {
  test('default', async () => {
    await expect(ping(db)).resolves.toBeUndefined();
  });

  test('behavior: returns exact numbers as text and times as dates', async () => {
    const result = await sql<unknown>`select 123456789012345678901234567.000000000000000001::numeric as number,
      9007199254740993::bigint as big, timestamptz '2026-01-01T00:00:00.001Z' as time`.execute(db);
    expect(result.rows).toEqual([
      {
        number: '123456789012345678901234567.000000000000000001',
        big: '9007199254740993',
        time: new Date('2026-01-01T00:00:00.001Z'),
      },
    ]);
  });

  test('error: upstream_unavailable without a server, without URL and statement in the message', async () => {
    const url = 'postgres://someone:hunter2@127.0.0.1:1/secret_name';
    const unreachable = createDatabase({ url, poolSize: 1, statementTimeoutMs: 1_000 }, { logger });
    const error = await outcome(unreachable.selectFrom('api_keys').selectAll().execute());
    await unreachable.destroy();
    expect(error).toBeInstanceOf(UpstreamUnavailableError);
    expect(error).toMatchObject({
      code: 'upstream_unavailable',
      retryable: true,
      details: { provider: 'database', reason: 'unreachable' },
    });
    expect(everythingIn(error)).not.toMatch(/hunter2|someone|secret_name|127\.0\.0\.1|api_keys|select/i);
  });

  test('error: upstream_unavailable for a wrong password or database', async () => {
    const url = new URL(database.url);
    const wrong = [
      Object.assign(new URL(url), { password: 'wrong' }).href,
      Object.assign(new URL(url), { pathname: '/missing_name' }).href,
    ];
    for (const href of wrong) {
      const refused = createDatabase({ url: href, poolSize: 1, statementTimeoutMs: 1_000 });
      const error = await outcome(ping(refused));
      await refused.destroy();
      expect(error).toMatchObject({ code: 'upstream_unavailable', details: { reason: 'rejected' } });
      expect(everythingIn(error)).not.toMatch(/wrong|missing_name|gateway/);
    }
  });

  test('error: upstream_unavailable for a statement past its timeout, which does not count as an outage', async () => {
    const hasty = createDatabase({ url: database.url, poolSize: 1, statementTimeoutMs: 50 }, { logger });
    const error = await outcome(sql`select pg_sleep(10)`.execute(hasty));
    expect(error).toMatchObject({ code: 'upstream_unavailable', details: { provider: 'database', reason: 'timeout' } });
    await expect(ping(hasty)).resolves.toBeUndefined();
    await hasty.destroy();
    expect(logged).toEqual([]);
  });

  test('behavior: an invalid statement is an internal error', async () => {
    const error = await outcome(sql`select no_such_column`.execute(db));
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(AppError);
    await expect(ping(db)).resolves.toBeUndefined();
  });

  test('behavior: replaces a session that was closed while idle', async () => {
    await ping(db);
    const other = createDatabase({ url: database.url, poolSize: 1, statementTimeoutMs: 5_000 });
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(other);
    await other.destroy();
    const first = await outcome(ping(db)); // may still meet the dead connection
    if (first !== 'ok') expect(first).toMatchObject({ code: 'upstream_unavailable' });
    await expect(ping(db)).resolves.toBeUndefined();
  });

  test('behavior: logs an outage and a recovery once each', async () => {
    const options = { dataDir: join(tmpdir(), `spiral-gateway-test-${randomUUID()}`), logger: silentLogger };
    const seed = await startPostgres(options);
    const port = Number(new URL(seed.url).port);
    const client = createDatabase({ url: seed.url, poolSize: 3, statementTimeoutMs: 5_000 }, { logger });
    try {
      await sql`create table kept (id integer)`.execute(client);
      const held = outcome(sql`select pg_sleep(60)`.execute(client));
      await seed.stop();
      expect(await held).toMatchObject({ code: 'upstream_unavailable', details: { reason: 'unreachable' } });
      const refusals = await Promise.all([1, 2, 3, 4].map(() => outcome(ping(client))));
      for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'upstream_unavailable' });
      expect(logged).toEqual(['database unavailable']);

      const again = await startPostgres({ ...options, port });
      await Promise.all([1, 2, 3, 4].map(() => sql`select * from kept`.execute(client)));
      expect(logged).toEqual(['database unavailable', 'database recovered']);
      await client.destroy();
      await again.stop();
    } finally {
      await seed.stop();
      await rm(options.dataDir, { recursive: true, force: true });
    }
  });

  test('behavior: closing waits for the statement under way', async () => {
    const closing = createDatabase({ url: database.url, poolSize: 1, statementTimeoutMs: 5_000 });
    let ran: unknown;
    await new Promise<void>((underWay) => {
      ran = outcome(
        closing.connection().execute(async (connection) => {
          underWay();
          await sql`select pg_sleep(0.2)`.execute(connection);
        }),
      );
    });
    await closing.destroy();
    expect(await ran).toBe('ok');
  });
});

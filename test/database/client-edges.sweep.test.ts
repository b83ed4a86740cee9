import { connect, createServer, type Server, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { problemOf } from '../../src/database/connection/problems.ts';
import { createDatabaseWatch } from '../../src/database/connection/watch.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { captureLogs } from '../support/log-capture.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

/* A client before servers that are silent or refuse it, and migrations that wait for one another. */

const T = Date.UTC(2026, 5, 10, 12);
const clock = { nowMs: T, now: () => clock.nowMs };

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, poolSize: 1, statementTimeoutMs: 10_000 });
});
beforeEach(() => {
  clock.nowMs = T;
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

describe('a client', () => {
  test('behavior: leaves statements alone on a connection that keeps its limits itself', async () => {
    const { rows } = await sql<{ alone: boolean; limit: string }>`
      select now() = statement_timestamp() as alone, current_setting('statement_timeout') as limit`.execute(db);
    expect(rows).toEqual([{ alone: true, limit: '10s' }]);
  });

  test('behavior: tells the watch that it was given', async () => {
    const watch = createDatabaseWatch(silentLogger, clock);
    const away = createDatabase(
      { url: 'postgres://a:b@127.0.0.1:1/c', poolSize: 1, statementTimeoutMs: 1_000 },
      { clock, watch },
    );
    await expect(sql`select 1`.execute(away)).rejects.toMatchObject({ problem: 'unreachable' });
    await away.destroy();
    expect(watch.status()).toEqual({ problem: 'unreachable', sinceMs: T });
  });

  test('behavior: a server that was silent is asked again by a probe, which every other failure ends', async () => {
    const sockets = new Set<Socket>();
    let isSilent = true;
    const server: Server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      if (!isSilent) socket.destroy();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as { port: number };
    const config = {
      url: `postgres://a:b@127.0.0.1:${port}/c`,
      poolSize: 1,
      statementTimeoutMs: 1_000,
      connectTimeoutMs: 1_000,
    };
    const client = createDatabase(config, { clock });
    const problem = () =>
      sql`select 1`.execute(client).then(
        () => 'answered',
        (error: { problem?: string }) => error.problem,
      );
    try {
      expect([await problem(), sockets.size]).toEqual(['silent', 1]);
      expect([await problem(), sockets.size]).toEqual(['silent', 1]);
      clock.nowMs += 2_000;
      // The probe alone connects, and waits in vain.
      expect([await problem(), sockets.size]).toEqual(['silent', 2]);
      clock.nowMs += 2_000;
      isSilent = false;
      expect([await problem(), sockets.size]).toEqual(['unreachable', 4]);
    } finally {
      await client.destroy();
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    }
  });
});

test('behavior: a server that was silent and answers the probe is used again', async () => {
  const { hostname, port } = new URL(database.url);
  const sockets = new Set<Socket>();
  let isSilent = true;
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    if (isSilent) return;
    const real = connect(Number(port), hostname).on('error', () => socket.destroy());
    sockets.add(real);
    socket.pipe(real).pipe(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  const limits = { poolSize: 1, statementTimeoutMs: 10_000, connectTimeoutMs: 1_000 };
  const client = createDatabase({ url: url.href, ...limits }, { clock });
  try {
    await expect(sql`select 1`.execute(client)).rejects.toMatchObject({ problem: 'silent' });
    isSilent = false;
    await expect(sql`select 1`.execute(client)).rejects.toMatchObject({ problem: 'silent' });
    clock.nowMs += 2_000;
    expect((await sql`select 1 as one`.execute(client)).rows).toEqual([{ one: 1 }]);
  } finally {
    await client.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  }
});

test('behavior: a pooler that refuses the limits of a connection is asked without them from then on', async () => {
  const startups: boolean[] = [];
  const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: statement_timeout', '']
    .map((field) => `${field}\0`)
    .join('');
  const refusal = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), Buffer.from(fields)]);
  refusal.writeInt32BE(refusal.length - 1, 1);
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (startup) => {
      const hasLimits = startup.includes('statement_timeout');
      startups.push(hasLimits);
      if (hasLimits) socket.end(refusal);
      else socket.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  const client = createDatabase({ url: `postgres://a:b@127.0.0.1:${port}/c`, poolSize: 1, statementTimeoutMs: 5_000 });
  for (let i = 0; i < 2; i += 1)
    await expect(sql`select 1`.execute(client)).rejects.toMatchObject({ problem: 'unreachable' });
  expect(startups).toEqual([true, false, false]);
  await client.destroy();
  await new Promise((closed) => server.close(closed));
});

test('problemOf: of several addresses the first failure counts where the whole has no code of its own', () => {
  const first = Object.assign(new Error('x'), { code: 'ENOTFOUND' });
  expect(problemOf(Object.assign(new AggregateError([first], ''), { code: 5 }))).toBe('unknown_host');
  expect(problemOf(Object.assign(new Error('unsupported startup parameter: x'), { code: '22023' }), true)).toBe(
    'pooler_refuses',
  );
});

test('migrateDatabase: a step may take two minutes', async () => {
  const fresh = await createTestDatabase();
  const up = [sql`create table noted as select current_setting('statement_timeout') as value`];
  await migrateDatabase(fresh.url, { known: [{ name: '0001_noted', up }] });
  const reader = createDatabase({ url: fresh.url, poolSize: 1, statementTimeoutMs: 1_000 });
  expect((await sql`select value from noted`.execute(reader)).rows).toEqual([{ value: '2min' }]);
  await reader.destroy();
  await fresh.drop();
});

test('migrateDatabase: a process that only waited for another one has applied nothing, and says nothing', async () => {
  const fresh = await createTestDatabase();
  const holder = createDatabase({ url: fresh.url, poolSize: 2, statementTimeoutMs: 60_000 });
  const { take, logger } = captureLogs();
  try {
    let runs: Promise<readonly (readonly string[])[]> | undefined;
    await holder.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(7164300113)`.execute(transaction);
      runs = Promise.all([1, 2].map(() => migrateDatabase(fresh.url, { logger })));
      runs.catch(() => {});
      // Both have read the pending migrations, and wait for the lock.
      await expect
        .poll(
          async () =>
            (await sql`select from pg_locks where locktype = 'advisory' and not granted`.execute(holder)).rows.length,
        )
        .toBe(2);
    });
    const names = migrations.map(({ name }) => name);
    expect((await runs)?.toSorted((a, b) => a.length - b.length)).toEqual([[], names]);
    expect(take().filter((line) => line.includes('database migrated'))).toHaveLength(1);
  } finally {
    await holder.destroy();
    await fresh.drop();
  }
});

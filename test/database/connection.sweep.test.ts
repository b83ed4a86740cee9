import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import type { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { DATABASE_PROBLEMS, problemOf } from '../../src/database/connection/problems.ts';
import { createDatabaseWatch } from '../../src/database/connection/watch.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createKeyAdmin } from '../../src/keys/admin.ts';
import { captureLogs } from '../support/log-capture.ts';
import { startPgBouncer } from '../support/process/pgbouncer.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../support/process/tcp-proxy.ts';

let database: TestDatabase;
let line: TcpProxy;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  line = await startTcpProxy(Number(new URL(database.url).port));
});
afterAll(async () => {
  await line?.stop();
  await database?.drop();
});

const opened: Database[] = [];
afterEach(async () => {
  line.set({ kind: 'pass' });
  await Promise.all(opened.splice(0).map((db) => db.destroy()));
});

const clock = { nowMs: Date.UTC(2026, 5, 1), now: () => clock.nowMs };
const logs = captureLogs();

function open(url: string, more: { readonly statementTimeoutMs?: number; readonly connectTimeoutMs?: number } = {}) {
  const watch = createDatabaseWatch(logs.logger, clock);
  const db = createDatabase({ url, poolSize: 2, statementTimeoutMs: 5_000, ...more }, { clock, watch });
  opened.push(db);
  return { db, watch };
}
const changed = (change: (url: URL) => void, from = database.url): string => {
  const url = new URL(from);
  change(url);
  return url.href;
};
const throughLine = () => changed((url) => Object.assign(url, { port: String(line.port) }));
const ping = (db: Database) => sql`select 1`.execute(db);
/** The problem of a failing statement. */
async function problem(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('no failure'),
    (thrown: unknown) => thrown as DatabaseUnavailableError,
  );
  return 'problem' in error ? error.problem : error.message;
}

describe('problems of a database', () => {
  test('behavior: a wrong password, database or address', async () => {
    const wrong = [
      changed((url) => Object.assign(url, { password: 'wrong' })),
      changed((url) => Object.assign(url, { username: 'nobody' })),
      changed((url) => Object.assign(url, { pathname: '/missing_name' })),
      changed((url) => Object.assign(url, { port: '1' })),
    ];
    const found: string[] = [];
    for (const url of wrong) {
      const { db, watch } = open(url);
      found.push(await problem(ping(db)));
      expect(watch.status()).toEqual({ problem: found.at(-1), sinceMs: clock.nowMs });
    }
    expect(found).toEqual(['bad_password', 'bad_password', 'no_such_database', 'unreachable']);
    const logged = logs.take();
    for (const [i, name] of found.entries()) expect(logged[i]).toMatch(`"problem":"${name}"`);
  });

  test('behavior: too many connections, a missing right and a read-only database', async () => {
    const { db: owner } = open(database.url);
    const role = `limited_${randomUUID().slice(0, 8)}`;
    await sql`create role ${sql.id(role)} login password 'secret' connection limit 1`.execute(owner);
    const url = changed((given) => Object.assign(given, { username: role, password: 'secret' }));
    try {
      const { db, watch } = open(url);
      // Two that begin at once count each other, so that Postgres may refuse both.
      const refused = await db.connection().execute(async (held) => {
        await sql`select 1`.execute(held);
        return problem(ping(db));
      });
      expect(refused).toBe('too_many_connections');
      // The server ends a closed session some time after its client.
      await sql`alter role ${sql.id(role)} connection limit -1`.execute(owner);
      expect(await problem(sql`select * from api_keys`.execute(db))).toBe('no_right');
      await ping(db);
      expect(watch.status().problem).toBe('no_right');
      clock.nowMs += 60_000;
      await ping(db);
      expect(watch.status().problem).toBeNull();
      await sql`grant insert on drift_sightings to ${sql.id(role)}`.execute(owner);
      await sql`alter role ${sql.id(role)} set default_transaction_read_only = on`.execute(owner);
      const { db: reader, watch: readers } = open(url);
      await db.destroy();
      const write = sql`insert into drift_sightings values (1, 'a', ${`0x${'1'.repeat(40)}`}, now())`;
      expect(await problem(write.execute(reader))).toBe('read_only');
      await ping(reader);
      expect(readers.status().problem).toBe('read_only');
      await sql`set default_transaction_read_only = off`.execute(reader);
      await write.execute(reader);
      expect(readers.status().problem).toBeNull();
      await reader.destroy();
    } finally {
      await sql`drop owned by ${sql.id(role)}`.execute(owner);
      await sql`drop role ${sql.id(role)}`.execute(owner);
    }
  });

  test.each([
    [{ code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND db' }, 'unknown_host'],
    [{ code: 'ECONNRESET', message: 'read ECONNRESET' }, 'unreachable'],
    [{ code: 'ETIMEDOUT', message: 'connect ETIMEDOUT' }, 'silent'],
    [{ code: '57P03', message: 'the database system is starting up' }, 'going_up_or_down'],
    [{ code: '53100', message: 'could not extend file' }, 'out_of_space'],
    [{ code: '28000', message: 'no pg_hba.conf entry for host "1", user "a", database "b"' }, 'access_denied'],
    [
      { code: '08P01', message: 'server login has been failing, cached error: connect failed' },
      'pooler_without_server',
    ],
    [{ code: '08P01', message: 'no more connections allowed (max_client_conn)' }, 'too_many_connections'],
    [{ code: 'CERT_HAS_EXPIRED', message: 'certificate has expired' }, 'certificate_expired'],
    [{ code: 'CERT_REVOKED', message: 'certificate revoked' }, 'certificate'],
  ])('behavior: %o is %s', ({ code, message }, named) => {
    expect(problemOf(Object.assign(new Error(message), { code }), true)).toBe(named);
  });

  test('behavior: an error of a statement is none', () => {
    expect(problemOf(Object.assign(new Error('duplicate key'), { code: '23505' }))).toBeUndefined();
    expect(problemOf(new Error('unknown'))).toBeUndefined();
  });

  test('behavior: each has a next step', () => {
    for (const { todo } of Object.values(DATABASE_PROBLEMS)) expect(todo).toMatch(/\.$/);
  });
});

describe('a damaged connection', () => {
  /** Rows of some length, so that every part of the protocol is among the bytes. */
  const rows = (db: Database) => sql`select generate_series(1, 200)::text as n, now() as at`.execute(db);

  test('behavior: a changed byte of an answer fails its statement at most, and the next one is answered', async () => {
    const { db } = open(throughLine(), { statementTimeoutMs: 500, connectTimeoutMs: 1_000 });
    await rows(db);
    const found = new Set<string>();
    for (let at = 0; at < 80; at += 1) {
      for (const mask of [0xff, 0x80]) {
        let isFirst = true;
        line.set({
          kind: 'change',
          answer(bytes) {
            if (isFirst) flip(bytes, at, mask);
            isFirst = false;
            return bytes;
          },
        });
        found.add(await problem(rows(db)));
        line.set({ kind: 'pass' });
        await rows(db);
      }
    }
    expect([...found].sort()).toEqual(['corrupted', 'no failure']);
  });

  test('behavior: rubbish instead of the answers to a connect is named', async () => {
    for (const answer of [
      Buffer.alloc(64, 0xee),
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      Buffer.from('R\0\0\0\x08\0\0\0\x63'),
    ]) {
      line.set({ kind: 'change', answer: () => answer });
      const { db } = open(throughLine(), { statementTimeoutMs: 300, connectTimeoutMs: 300 });
      expect(['corrupted', 'silent', 'unreachable']).toContain(await problem(ping(db)));
    }
  });

  test('behavior: a connection that is cut within an answer fails the statement', async () => {
    const { db } = open(throughLine());
    await ping(db);
    line.set({ kind: 'change', answer: (bytes) => bytes.subarray(0, 20) });
    const cut = problem(rows(db));
    setTimeout(() => line.lead(), 50);
    expect(await cut).toBe('unreachable');
    line.set({ kind: 'pass' });
    await ping(db);
  });
});

/** Change a byte, unless it is of the length of a message: the driver would wait for bytes that never come. */
function flip(bytes: Buffer, at: number, mask: number): void {
  for (let start = 0; start < at; start += 1 + bytes.readUInt32BE(start + 1)) {
    if (at <= start + 4) return;
  }
  bytes[at] = (bytes[at] ?? 0) ^ mask;
}

describe('a silent database', () => {
  test('behavior: costs one timeout; then statements fail at once, until a probe is answered', async () => {
    const { db, watch } = open(throughLine(), { statementTimeoutMs: 50, connectTimeoutMs: 500 });
    await ping(db);
    line.set({ kind: 'swallow' });
    expect(await problem(ping(db))).toBe('silent');
    const startedMs = performance.now();
    for (let i = 0; i < 200; i += 1) expect(await problem(ping(db))).toBe('silent');
    // 200 timeouts would take 210 s.
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    expect(watch.status().problem).toBe('silent');
    line.set({ kind: 'pass' });
    expect(await problem(ping(db))).toBe('silent');
    clock.nowMs += 2_000;
    await ping(db);
    expect(watch.status().problem).toBeNull();
  });
});

const hasPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0;

describe.runIf(hasPgBouncer)('PgBouncer in transaction mode (needs the program pgbouncer)', () => {
  describe.each([
    ['as installed', []],
    [
      'with the limits of time ignored',
      ['ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout'],
    ],
  ])('%s', (_, settings) => {
    let pooler: Awaited<ReturnType<typeof startPgBouncer>>;
    beforeAll(async () => {
      pooler = await startPgBouncer(database.url, [...settings, 'default_pool_size = 2']);
    });
    afterAll(() => pooler?.stop());

    test('behavior: statements, transactions and migrations run', async () => {
      const { db } = open(pooler.url);
      expect(await migrateDatabase(pooler.url)).toEqual([]);
      const admin = createKeyAdmin({ db, clock });
      const { key } = await admin.issue({ tier: 'partner', label: 'pooled' });
      const rotated = await admin.rotate(key.prefix, { overlapMs: 60_000 });
      expect(rotated.key.rotatedFrom).toBe(key.id);
      await Promise.all(Array.from({ length: 20 }, (_, i) => sql`select ${i}::integer`.execute(db)));
      const { db: failing } = open(pooler.url);
      await expect(sql`select no_such_column`.execute(failing)).rejects.toThrow('no_such_column');
      await ping(failing);
    });

    test('behavior: the server cancels a statement past its timeout, alone and in a transaction; nothing stays behind', async () => {
      const { db } = open(pooler.url, { statementTimeoutMs: 100 });
      expect(await problem(sql`select pg_sleep(30)`.execute(db))).toBe('slow_statement');
      const within = db.transaction().execute((transaction) => sql`select pg_sleep(30)`.execute(transaction));
      expect(await problem(within)).toBe('slow_statement');
      const { db: other } = open(pooler.url, { statementTimeoutMs: 60_000 });
      const { rows } = await sql<{ limit: string }>`
        select current_setting('statement_timeout') as limit`.execute(other);
      expect(rows).toEqual([{ limit: '1min' }]);
      const { db: direct } = open(database.url);
      const { rows: sleeping } = await sql`
        select 1 from pg_stat_activity where query like '%pg_sleep(30)%' and state = 'active' and pid <> pg_backend_pid()
      `.execute(direct);
      expect(sleeping).toEqual([]);
    });
  });

  test('behavior: queues its clients while Postgres is down: the second statement fails at once', async () => {
    const pooler = await startPgBouncer(
      changed((url) => Object.assign(url, { port: '1' })),
      [],
    );
    try {
      const { db } = open(pooler.url, { connectTimeoutMs: 500 });
      expect(await problem(ping(db))).toBe('silent');
      const again = problem(ping(db));
      expect(await Promise.race([again, new Promise((resolve) => setImmediate(() => resolve('late')))])).toBe('silent');
    } finally {
      await pooler.stop();
    }
  });
});

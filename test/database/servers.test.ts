import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createOverlay } from '../../devnet/overlay.ts';
import { findAccount } from '../../devnet/postgres/binaries.ts';
import { type EmbeddedPostgres, startPostgres } from '../../devnet/postgres.ts';
import { seededRegistrations } from '../../devnet/seed/registrations.ts';
import { seedRegistrations } from '../../devnet/seed-database.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { createDatabase, type Database } from '../../src/database/client.ts';
import type { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { createDatabaseWatch } from '../../src/database/connection/watch.ts';
import { migrateDatabase, requireMigrated } from '../../src/database/migrate.ts';
import { createReplicaReads } from '../../src/database/replica.ts';
import { grantsFor } from '../../src/database/rights.ts';
import { createKeyService } from '../../src/keys/service.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { captureLogs } from '../support/log-capture.ts';
import { createTestDatabase } from '../support/process/postgres.ts';
import { eventually } from '../support/process/spawn-service.ts';

/** Servers of their own: with TLS and a standby, and one of Debian with its tools. */

const clock = { nowMs: Date.UTC(2026, 5, 1), now: () => clock.nowMs };
const opened: Database[] = [];
const open = (url: string) => {
  const db = createDatabase({ url, poolSize: 2, statementTimeoutMs: 5_000 }, { clock });
  opened.push(db);
  return db;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.destroy()));
});
const ping = (db: Database) => sql`select 1`.execute(db);
const problem = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: DatabaseUnavailableError) => error.problem ?? error.message,
  );

const folder = mkdtempSync(join(tmpdir(), 'spiral-gateway-servers-'));
execFileSync('chmod', ['755', folder]);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);

describe('TLS and a standby', () => {
  let primary: EmbeddedPostgres;
  let standby: EmbeddedPostgres;
  let url: URL;
  const REPLICATION = { wal_level: 'replica', max_wal_senders: '4', hot_standby: 'on' };

  beforeAll(async () => {
    await makeCertificates();
    writeFileSync(
      at('hba.conf'),
      'hostnossl all strict all reject\nhost all all all scram-sha-256\nhost replication all all scram-sha-256\n',
    );
    const settings = {
      ...REPLICATION,
      ssl: 'on',
      ssl_cert_file: at('server.pem'),
      ssl_key_file: at('server.key'),
      hba_file: at('hba.conf'),
    };
    const options = { dataDir: at('primary'), settings, logger: silentLogger };
    const first = await startPostgres(options);
    url = new URL(await first.createDatabase('service'));
    await migrateDatabase(url.href);
    await first.stop();
    execFileSync('cp', ['-a', at('primary'), at('standby')]);
    primary = await startPostgres({ ...options, port: Number(url.port) });
    await startStandby();
  }, 60_000);
  afterAll(async () => {
    await standby?.stop();
    await primary?.stop();
  });

  async function startStandby(): Promise<void> {
    writeFileSync(at('standby/cluster/standby.signal'), '');
    const { port, username, password } = url;
    const settings = {
      ...REPLICATION,
      primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${password}`,
    };
    standby = await startPostgres({ dataDir: at('standby'), settings, logger: silentLogger });
  }

  const secure = (query: string, host = 'localhost') => {
    const given = new URL(url);
    given.hostname = host;
    given.search = query;
    return given.href;
  };

  test('behavior: a connection is encrypted and its server verified by our own CA', async () => {
    const db = open(secure(`sslmode=verify-full&sslrootcert=${at('ca.pem')}`));
    const { rows } = await sql`select ssl, version from pg_stat_ssl where pid = pg_backend_pid()`.execute(db);
    expect(rows).toEqual([{ ssl: true, version: expect.stringMatching(/^TLSv1\.[23]$/) }]);
  });

  test.each([
    ['an unknown authority', 'sslmode=verify-full', 'localhost', 'certificate'],
    ['another name', `sslmode=verify-full&sslrootcert=${at('ca.pem')}`, '127.0.0.1', 'certificate'],
    ['require, which verifies too', 'sslmode=require', 'localhost', 'certificate'],
    ['a missing file', 'sslmode=verify-full&sslrootcert=/missing/ca.pem', 'localhost', 'certificate_file'],
    ['no check', 'sslmode=no-verify', 'localhost', 'none'],
  ])('behavior: %s', async (_, query, host, expected) => {
    expect(await problem(ping(open(secure(query, host))))).toBe(expected);
  });

  test('behavior: a server that demands TLS, and one without it', async () => {
    await sql`create role strict login password 'secret'`.execute(open(url.href));
    const strict = Object.assign(new URL(url), { username: 'strict', password: 'secret' });
    expect(await problem(ping(open(strict.href)))).toBe('tls_required');
    strict.search = 'sslmode=no-verify';
    expect(await problem(ping(open(strict.href)))).toBe('none');
    const plain = await createTestDatabase();
    expect(await problem(ping(open(`${plain.url}?sslmode=verify-full`)))).toBe('tls_missing');
    await plain.drop();
  });

  describe('reads of a replica', () => {
    const logs = captureLogs();
    const setUp = (maxLagSec: number) => {
      const replicaUrl = standby.url.replace(/\/postgres$/, '/service');
      const watch = createDatabaseWatch(logs.logger, clock, 'DATABASE_READ_URL');
      const replica = createDatabase({ url: replicaUrl, poolSize: 2, statementTimeoutMs: 5_000 }, { clock, watch });
      const db = open(url.href);
      opened.push(replica);
      const reads = createReplicaReads({ replica, watch, clock, logger: logs.logger, maxLagSec });
      const place = sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`;
      const where = reads.prefer(
        async () => (await place.execute(replica)).rows[0]?.standby,
        async () => (await place.execute(db)).rows[0]?.standby,
      );
      return { db, replica, reads, where };
    };

    test('behavior: reads the replica while it is in time, and the primary while it is late', async () => {
      const { db, replica, reads, where } = setUp(3_600);
      await sql`insert into drift_sightings values (1, 'a', ${`0x${'1'.repeat(40)}`}, now())`.execute(db);
      const copied = () => sql`select 1 from drift_sightings`.execute(replica);
      await eventually(copied, ({ rows }) => rows.length === 1);
      expect([await where(), reads.status()]).toEqual([true, { problem: null, sinceMs: null }]);
      logs.take();
      const late = setUp(0);
      expect([await late.where(), late.reads.status()]).toEqual([false, { problem: 'late', sinceMs: clock.nowMs }]);
      expect(logs.take()).toEqual([expect.stringContaining('read replica is not used')]);
    });

    test('behavior: reads the primary while the replica is away, says so once, and returns to it', async () => {
      const { reads, where } = setUp(3_600);
      expect(await where()).toBe(true);
      const { port } = new URL(standby.url);
      await standby.stop();
      logs.take();
      expect([await where(), await where()]).toEqual([false, false]);
      expect(reads.status().problem).toMatch(/unreachable|going_up_or_down/);
      expect(logs.take().filter((line) => line.includes('database unavailable'))).toHaveLength(1);
      standby = await startPostgres({
        dataDir: at('standby'),
        port: Number(port),
        settings: {
          ...REPLICATION,
          primary_conninfo: `host=127.0.0.1 port=${url.port} user=${url.username} password=${url.password}`,
        },
        logger: silentLogger,
      });
      clock.nowMs += 10_000;
      expect(await where()).toBe(true);
      expect(reads.status().problem).toBeNull();
    });

    test('error: a failure of the statement itself is not tried again', async () => {
      const { reads } = setUp(3_600);
      const fail = reads.prefer(
        () => Promise.reject(new Error('a defect')),
        () => Promise.resolve('hidden'),
      );
      await expect(fail()).rejects.toThrow('a defect');
    });
  });

  async function makeCertificates(): Promise<void> {
    const openssl = (...argv: string[]) => execFileSync('openssl', argv, { stdio: 'ignore' });
    const key = ['-newkey', 'rsa:2048', '-nodes'];
    openssl(
      'req',
      '-x509',
      ...key,
      '-keyout',
      at('ca.key'),
      '-out',
      at('ca.pem'),
      '-days',
      '2',
      '-subj',
      '/CN=test CA',
    );
    openssl('req', ...key, '-keyout', at('server.key'), '-out', at('server.csr'), '-subj', '/CN=localhost');
    writeFileSync(at('names'), 'subjectAltName=DNS:localhost\n');
    const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('names')];
    openssl('x509', '-req', '-in', at('server.csr'), ...signed, '-out', at('server.pem'), '-days', '2');
    const account = await findAccount();
    if (account !== undefined) chownSync(at('server.key'), account.uid, account.gid);
    execFileSync('chmod', ['600', at('server.key')]);
  }
});

/** The newest server of Debian with the tools of the same version. */
function debianPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => join(root, version, 'bin'))
    .find((path) => ['postgres', 'initdb', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(path, name))));
}
const programs = debianPrograms();

describe.runIf(programs !== undefined)('backup and restore (needs the Debian package postgresql)', () => {
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    server = await startPostgres({ dataDir: at('debian'), programs: programs ?? '', logger: silentLogger });
  }, 60_000);
  afterAll(() => server?.stop());
  const tool = (name: string, ...argv: string[]) => execFileSync(join(programs ?? '', name), argv, { stdio: 'pipe' });
  const keysOf = (db: Database) =>
    createKeyService({
      db,
      clock,
      timers: systemTimers,
      logger: silentLogger,
      graceMs: 0,
      pepper: 'a pepper of tests',
    });

  test('behavior: a dump restores every row, on the same server and on a newer one; keys, ids and rights work', async () => {
    const source = await server.createDatabase('source');
    await migrateDatabase(source);
    const db = open(source);
    await seedRegistrations(
      db,
      seededRegistrations(createCatalog(curatedChains, createOverlay(clock.nowMs)), clock.nowMs),
    );
    const issued = await keysOf(db).issue({ tier: 'partner', label: 'kept' });
    await sql`insert into rate_samples values (1, ${`0x${'a'.repeat(64)}`}, '2026-05-01', '2026-05-01 00:10', 0.045, 0.9, 10, 9, 1)`.execute(
      db,
    );
    const dump = at('spiral.dump');
    tool('pg_dump', '--format=custom', `--file=${dump}`, source);
    const content = await contentOf(db);
    expect(content.get('position_registrations')?.length).toBeGreaterThan(5);

    const newer = await createTestDatabase();
    try {
      for (const target of [await server.createDatabase('restored'), newer.url]) {
        tool('pg_restore', '--no-owner', '--no-privileges', '--exit-on-error', `--dbname=${target}`, dump);
        const restored = open(target);
        expect(await contentOf(restored)).toEqual(content);
        expect(await migrateDatabase(target)).toEqual([]);
        expect(await keysOf(restored).verify(`Bearer ${issued.text}`)).toMatchObject({
          label: 'kept',
          tier: 'partner',
        });
        const { rows } = await sql<{ isNew: boolean }>`
          insert into position_registrations (wallet, chain_id, market_id, position_index, is_open, deposited_usd, created_at, updated_at)
          values (${`0x${'9'.repeat(40)}`}, 1, ${`0x${'a'.repeat(64)}`}, 7, true, 1, now(), now())
          returning id > (select max(id) from position_registrations) as "isNew"`.execute(restored);
        expect(rows).toEqual([{ isNew: true }]);
        const role = `restored_${randomUUID().slice(0, 8)}`;
        await sql`create role ${sql.id(role)} login password 'secret'`.execute(restored);
        await sql.raw(grantsFor(role)).execute(restored);
        const asRole = Object.assign(new URL(target), { username: role, password: 'secret' }).href;
        await expect(requireMigrated(asRole)).resolves.toBeUndefined();
        await sql`drop owned by ${sql.id(role)}`.execute(restored);
        await sql`drop role ${sql.id(role)}`.execute(restored);
      }
    } finally {
      await Promise.all(opened.splice(0).map((one) => one.destroy()));
      await newer.drop();
    }
  }, 60_000);

  async function contentOf(db: Database): Promise<ReadonlyMap<string, readonly string[]>> {
    const tables = await db.introspection.getTables();
    const content = new Map<string, readonly string[]>();
    for (const { name } of tables) {
      const { rows } = await sql<{ row: string }>`
        select t::text as row from ${sql.table(name)} t order by 1`.execute(db);
      content.set(
        name,
        rows.map(({ row }) => row),
      );
    }
    return content;
  }
});

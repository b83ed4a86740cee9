import { execFileSync } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAccount } from '../../devnet/postgres/binaries.ts';
import { type EmbeddedPostgres, startPostgres } from '../../devnet/postgres.ts';
import { checkReplica } from '../../doctor/checks/postgres-replica.ts';
import { createClockSamples } from '../../doctor/core/clock-samples.ts';
import type { DoctorDeps } from '../../doctor/core/deps.ts';
import { parseEnv } from '../../src/config/config.ts';
import type { Env } from '../../src/config/env.ts';
import { createDatabase, type Database } from '../../src/database/client.ts';
import type { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { createDatabaseWatch } from '../../src/database/connection/watch.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createReplicaReads } from '../../src/database/replica.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { captureLogs } from '../support/log-capture.ts';
import { createTestDatabase } from '../support/process/postgres.ts';
import { eventually } from '../support/process/spawn-service.ts';
import { useOwnServers } from './own-servers.ts';

const { clock, open, opened, at } = useOwnServers();
const ping = (db: Database) => sql`select 1`.execute(db);
const problem = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: DatabaseUnavailableError) => error.problem ?? error.message,
  );

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
  });
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
    ['an unknown authority', 'sslmode=verify-full', 'localhost', 'certificate_authority'],
    ['another name', `sslmode=verify-full&sslrootcert=${at('ca.pem')}`, '127.0.0.1', 'certificate_host'],
    ['require, which verifies too', 'sslmode=require', 'localhost', 'certificate_authority'],
    ['a missing file', 'sslmode=verify-full&sslrootcert=/missing/ca.pem', 'localhost', 'certificate_file'],
    ['no check', 'sslmode=no-verify', 'localhost', 'none'],
  ])('behavior: %s', async (_, query, host, expected) => {
    expect(await problem(ping(open(secure(query, host))))).toBe(expected);
  });

  test('behavior: a certificate that has expired', async () => {
    const trusting = secure(`sslmode=verify-full&sslrootcert=${at('ca.pem')}`);
    const good = readFileSync(at('server.pem'));
    const show = async (pem: Buffer, expected: string) => {
      writeFileSync(at('server.pem'), pem);
      await sql`select pg_reload_conf()`.execute(open(url.href));
      await eventually(
        () => problem(ping(open(trusting))),
        (found) => found === expected,
      );
    };
    await show(readFileSync(at('expired.pem')), 'certificate_expired');
    await show(good, 'none');
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

    test('behavior: reads the primary while the replica is down, logs it once, and returns to the replica', async () => {
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

    test('behavior: a standby without a usable lag is not read', async () => {
      const owner = open(url.href);
      const lie = async (answer: string) => {
        await sql`create or replace function public.pg_last_xact_replay_timestamp() returns timestamptz
          language sql as ${sql.lit(`select ${answer}`)}`.execute(owner);
        const { rows } = await sql<{ at: string }>`select pg_current_wal_lsn()::text as at`.execute(owner);
        const replayed = sql<{ done: boolean }>`select pg_last_wal_replay_lsn() >= ${rows[0]?.at}::pg_lsn as done`;
        await eventually(
          () => replayed.execute(open(standby.url)),
          (found) => found.rows[0]?.done === true,
        );
      };
      await sql`alter database service set search_path = public, pg_catalog`.execute(owner);
      await lie('null::timestamptz');
      const { where, reads } = setUp(3_600);
      for (const answer of ['null::timestamptz', "now() + interval '1 hour'", "now() - interval '9 days'"]) {
        await lie(answer);
        clock.nowMs += 5_000;
        expect([answer, await where(), reads.status().problem]).toEqual([answer, false, 'late']);
      }
      await lie('now()');
      clock.nowMs += 5_000;
      expect([await where(), reads.status().problem]).toEqual([true, null]);
      await sql`drop function public.pg_last_xact_replay_timestamp()`.execute(owner);
    });

    test('behavior: a copy that is no standby is as late as its newest sample; one without the tables is not read', async () => {
      const copy = await createTestDatabase();
      const watch = createDatabaseWatch(logs.logger, clock, 'DATABASE_READ_URL');
      const replica = createDatabase({ url: copy.url, poolSize: 2, statementTimeoutMs: 5_000 }, { clock, watch });
      const reads = createReplicaReads({ replica, watch, clock, logger: logs.logger, maxLagSec: 300 });
      const where = reads.prefer(
        async () => 'copy',
        async () => 'primary',
      );
      logs.take();
      expect([await where(), reads.status().problem]).toEqual(['primary', 'other_schema']);
      expect(logs.take()).toEqual([expect.stringContaining('another schema')]);
      await migrateDatabase(copy.url);
      const addSample = async (atMs: number) => {
        const at = new Date(atMs).toISOString();
        await sql`insert into rate_samples values (1, ${`0x${'a'.repeat(64)}`}, date_trunc('hour', ${at}::timestamptz), ${at}::timestamptz, 0.045, 0.9, 10, 9, 1)
          on conflict (chain_id, market_id, hour) do update set sampled_at = excluded.sampled_at`.execute(replica);
      };
      const HOUR_MS = 3_600_000;
      for (const [ageMs, expected] of [
        [null, 'primary'],
        [72 * HOUR_MS, 'primary'],
        [301_000, 'primary'],
        [-HOUR_MS, 'primary'],
        [299_000, 'copy'],
      ] as const) {
        clock.nowMs += 5_000;
        if (ageMs !== null) await addSample(clock.nowMs - ageMs);
        expect([ageMs, await where(), reads.status().problem]).toEqual([
          ageMs,
          expected,
          expected === 'copy' ? null : 'late',
        ]);
      }
      await replica.destroy();
      await copy.drop();
    });

    test('behavior: the doctor checks a replica, which needs no right but to read two tables', async () => {
      const owner = open(url.href);
      const replicaUrl = standby.url.replace(/\/postgres$/, '/service');
      const asReader = Object.assign(new URL(replicaUrl), { username: 'reader', password: 'secret' }).href;
      const other = await createTestDatabase();
      const look = async (env: Partial<Env>) => {
        const clocks = createClockSamples();
        const settings = { ...parseEnv({}), DATABASE_URL: url.href, DATABASE_READ_MAX_LAG_SEC: 3_600, ...env };
        const deps = { env: settings, clock: { now: () => Date.now() }, clocks } as unknown as DoctorDeps;
        const lines = await checkReplica(deps).run(new AbortController().signal);
        return Object.fromEntries(lines.map(({ check, status, found }) => [check, `${status}: ${found}`]));
      };
      expect(await look({})).toEqual({ answers: expect.stringMatching(/^not_applicable: not set/) });
      await sql`create role reader login password 'secret'`.execute(owner);
      const reader = () => look({ DATABASE_READ_URL: asReader });
      const refused = await eventually(reader, (found) => found.rights !== undefined);
      expect(refused.rights).toMatch(/^warning: the role lacks SELECT on rate_samples, portfolio_samples/);
      await sql`grant select on rate_samples, portfolio_samples to reader`.execute(owner);
      const good = await eventually(reader, ({ rights }) => rights?.startsWith('ok') === true);
      expect(good).toEqual({
        version: expect.stringMatching(/^ok/),
        system: 'ok: a standby of the server of DATABASE_URL',
        rights: expect.stringMatching(/^ok/),
        lag: expect.stringMatching(/^ok: at most \d+ s behind/),
        migrations: expect.stringMatching(/^not_applicable/),
        role: 'ok: role reader',
      });
      expect((await look({ DATABASE_READ_URL: replicaUrl })).migrations).toMatch(/^ok/);
      expect((await look({ DATABASE_READ_URL: url.href })).system).toMatch(
        /^warning: this is the server of DATABASE_URL/,
      );
      const strange = await look({ DATABASE_URL: other.url, DATABASE_READ_URL: replicaUrl });
      expect(strange.system).toMatch(/^failure: a standby of another system/);
      const empty = await look({ DATABASE_READ_URL: other.url });
      expect([empty.system, empty.rights, empty.lag]).toEqual([
        expect.stringMatching(/^warning: a copy that takes writes, of another system/),
        expect.stringMatching(/^warning: the tables rate_samples, portfolio_samples are not there/),
        undefined,
      ]);
      expect(empty.migrations).toMatch(/^(warning|not_applicable)/);
      await migrateDatabase(other.url);
      expect((await look({ DATABASE_READ_URL: other.url })).lag).toMatch(/^warning: how far it is behind is not known/);
      for (const [wrong, named] of [
        [asReader.replace('secret', 'wrong'), 'bad_password'],
        [asReader.replace('/service', '/missing'), 'no_such_database'],
        ['postgres://u:p@127.0.0.1:1/x', 'unreachable'],
        [secure('sslmode=verify-full'), 'certificate_authority'],
      ] as const) {
        expect(await look({ DATABASE_READ_URL: wrong })).toEqual({
          answers: expect.stringContaining(`warning: no usable answer (${named})`),
        });
      }
      await other.drop();
      await sql`drop owned by reader`.execute(owner);
      await sql`drop role reader`.execute(owner);
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
    for (const [name, days] of [
      ['server.pem', '2'],
      ['expired.pem', '-1'],
    ] as const) {
      openssl('x509', '-req', '-in', at('server.csr'), ...signed, '-out', at(name), '-days', days);
    }
    const account = await findAccount();
    if (account !== undefined) chownSync(at('server.key'), account.uid, account.gid);
    execFileSync('chmod', ['600', at('server.key')]);
  }
});

import { EventEmitter } from 'node:events';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type PostgresPoolClient,
  PostgresQueryCompiler,
} from 'kysely';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { clientsWith } from '../../src/database/connection/clients.ts';
import { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { guardPool } from '../../src/database/connection/pool.ts';
import {
  CORRUPTED,
  DATABASE_PROBLEMS,
  type DatabaseProblem,
  problemOf,
} from '../../src/database/connection/problems.ts';
import { createRest } from '../../src/database/connection/rest.ts';
import { createDatabaseWatch } from '../../src/database/connection/watch.ts';
import { createReplicaReads } from '../../src/database/replica.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { captureLogs } from '../support/log-capture.ts';

/* What the client makes of failures and of silence, without a server. */

const coded = (code: unknown, message = 'refused') => Object.assign(new Error(message), { code });

describe(problemOf, () => {
  test.each([
    ['57014', undefined, 'slow_statement'],
    ['55P03', undefined, 'slow_statement'],
    ['40001', undefined, 'slow_statement'],
    ['57P01', undefined, 'going_up_or_down'],
    ['57P03', undefined, 'going_up_or_down'],
    ['57P05', undefined, 'unreachable'],
    ['08006', undefined, 'unreachable'],
    ['28P01', undefined, 'bad_password'],
    ['28000', undefined, 'access_denied'],
    ['3D000', undefined, 'no_such_database'],
    ['42501', undefined, 'no_right'],
    ['25006', undefined, 'read_only'],
    ['53300', undefined, 'too_many_connections'],
    ['53200', undefined, 'out_of_space'],
    ['58030', undefined, 'server_error'],
    ['XX000', undefined, 'server_error'],
    // Poolers and servers share codes: their words tell them apart, where the code is a coarse one.
    ['08P01', 'unsupported startup parameter: statement_timeout', 'pooler_refuses'],
    ['08P01', 'pgbouncer cannot connect to server', 'pooler_without_server'],
    ['08P01', 'no such user', 'bad_password'],
    ['28000', 'no pg_hba.conf entry for host, no encryption', 'tls_required'],
    ['28000', 'no such database: x', 'no_such_database'],
    ['53300', 'no such database: x', 'too_many_connections'],
    [CORRUPTED, undefined, 'corrupted'],
    ['ETIMEDOUT', undefined, 'silent'],
    ['EAI_AGAIN', undefined, 'unknown_host'],
    ['ENOENT', undefined, 'certificate_file'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined, 'certificate_authority'],
    ['CERT_HAS_EXPIRED', undefined, 'certificate_expired'],
    ['ECONNREFUSED', undefined, 'unreachable'],
    // Five capitals, as a code of Postgres has: a code of Node.
    ['EPIPE', undefined, 'unreachable'],
    ['', 'timeout exceeded when trying to connect', 'pool_exhausted'],
    ['', 'Query read timeout', 'silent'],
    ['', 'The server does not support SSL connections', 'tls_missing'],
    ['', 'There was an error establishing an SSL connection', 'tls_missing'],
    ['', 'Received unexpected commandComplete message', 'corrupted'],
    ['', 'Connection terminated unexpectedly', 'unreachable'],
    ['ERR_UNKNOWN', 'Client was closed and is not queryable', 'unreachable'],
    [5, 'Connection terminated', 'unreachable'],
  ])('behavior: code %s with "%s" is %s, while connecting and afterwards', (code, message, named) => {
    expect([problemOf(coded(code, message)), problemOf(coded(code, message), true)]).toEqual([named, named]);
  });

  test.each([
    ['a violated constraint', coded('23505'), 'server_error'],
    ['an unknown error', new Error('unknown'), 'unreachable'],
    ['no error', 'text', 'unreachable'],
  ])('behavior: %s is of the statement, unless there is no connection yet', (_, error, connecting) => {
    expect([problemOf(error), problemOf(error, true)]).toEqual([undefined, connecting]);
  });

  test('behavior: a host with several addresses fails as its first one', () => {
    const all = new AggregateError([coded('ENOTFOUND'), coded('ETIMEDOUT')], '');
    expect(problemOf(all)).toBe('unknown_host');
    expect(problemOf(Object.assign(all, { code: 'ECONNREFUSED' }))).toBe('unreachable');
    expect(problemOf(new AggregateError([], 'none'))).toBeUndefined();
  });
});

describe(DatabaseUnavailableError, () => {
  test('default: reason, time to wait and the code of the driver, nothing else', () => {
    const error = new DatabaseUnavailableError('bad_password', coded('28P01', 'password of someone at 10.0.0.1'));
    expect(error).toMatchObject({
      ...{ problem: 'bad_password', code: 'upstream_unavailable', retryAfterSec: 2 },
      ...{ details: { provider: 'database', reason: 'rejected' }, cause: new Error('database driver: 28P01') },
    });
  });

  test.each([undefined, 'text', new Error('secret'), coded(5)])(
    'behavior: without a code the problem stands in: %s',
    (error) => {
      expect(new DatabaseUnavailableError('silent', error).cause).toEqual(new Error('database driver: silent'));
    },
  );
});

describe(createRest, () => {
  function setUp(answers: boolean[]) {
    const clock = { nowMs: 10_000, now: () => clock.nowMs };
    let probes = 0;
    const rest = createRest(clock, async () => {
      probes += 1;
      return answers.shift() ?? false;
    });
    return { clock, rest, probes: () => probes };
  }

  test('default: statements may be sent, and nothing is probed', async () => {
    const { rest, probes } = setUp([]);
    expect([await rest.allows(), probes(), rest.silences]).toEqual([true, 0, 0]);
  });

  test('behavior: after a silence one probe every 2 s decides, for all who ask meanwhile', async () => {
    const { clock, rest, probes } = setUp([false, true]);
    rest.begin();
    rest.begin();
    expect([await rest.allows(), probes(), rest.silences]).toEqual([false, 0, 1]);
    clock.nowMs += 1_999;
    expect([await rest.allows(), probes()]).toEqual([false, 0]);
    clock.nowMs += 1;
    expect([await Promise.all([rest.allows(), rest.allows(), rest.allows()]), probes()]).toEqual([
      [false, false, false],
      1,
    ]);
    clock.nowMs += 1_999;
    expect([await rest.allows(), probes()]).toEqual([false, 1]);
    clock.nowMs += 1;
    expect([await rest.allows(), await rest.allows(), probes(), rest.silences]).toEqual([true, true, 2, 1]);
    rest.begin();
    expect([await rest.allows(), rest.silences]).toEqual([false, 2]);
  });

  test('behavior: a silence while it rests begins the pause anew', async () => {
    const { clock, rest, probes } = setUp([true]);
    rest.begin();
    clock.nowMs += 1_500;
    rest.begin();
    clock.nowMs += 1_999;
    expect([await rest.allows(), probes()]).toEqual([false, 0]);
  });

  test('behavior: a clock that was set back does not prolong the pause', async () => {
    const { clock, rest } = setUp([true]);
    rest.begin();
    clock.nowMs -= 1;
    expect(await rest.allows()).toBe(true);
  });
});

describe(createDatabaseWatch, () => {
  function setUp() {
    const clock = { nowMs: 100_000, now: () => clock.nowMs };
    const logs = captureLogs();
    return { clock, logs, watch: createDatabaseWatch(logs.logger, clock, 'DATABASE_READ_URL') };
  }

  test('behavior: an outage is logged once at its start and once at its end, with its length', () => {
    const { clock, logs, watch } = setUp();
    expect(watch.status()).toEqual({ problem: null, sinceMs: null });
    watch.failed('unreachable');
    clock.nowMs += 5_000;
    watch.failed('going_up_or_down');
    expect(watch.status()).toEqual({ problem: 'going_up_or_down', sinceMs: 100_000 });
    watch.failed('bad_password');
    clock.nowMs += 2_000;
    watch.answered(false);
    watch.answered(true);
    expect(watch.status()).toEqual({ problem: null, sinceMs: null });
    expect(logs.take()).toEqual([
      'warn database unavailable {"of":"DATABASE_READ_URL","problem":"unreachable"}',
      'warn database unavailable {"of":"DATABASE_READ_URL","problem":"bad_password"}',
      'info database recovered {"of":"DATABASE_READ_URL","problem":"bad_password","forMs":7000}',
    ]);
  });

  test.each(['slow_statement', 'pool_exhausted'] as const)('behavior: %s is no outage', (problem) => {
    const { logs, watch } = setUp();
    expect(watch.failed(problem)).toMatchObject({ problem });
    expect([watch.status().problem, logs.take()]).toEqual([null, []]);
  });

  test('behavior: a read-only database is over with the first write', () => {
    const { watch } = setUp();
    watch.failed('read_only');
    watch.answered(false);
    expect(watch.status().problem).toBe('read_only');
    watch.answered(true);
    expect(watch.status().problem).toBeNull();
  });

  test.each([60_000, -60_000])('behavior: a missing right is over after a minute without another one: %s ms', (ms) => {
    const { clock, watch } = setUp();
    watch.failed('no_right');
    clock.nowMs += ms / 2;
    watch.failed('no_right');
    clock.nowMs += ms - Math.sign(ms);
    watch.answered(true);
    expect(watch.status()).toEqual({ problem: 'no_right', sinceMs: 100_000 });
    clock.nowMs += Math.sign(ms);
    watch.answered(false);
    expect(watch.status().problem).toBeNull();
  });
});

describe(guardPool, () => {
  /** A pool of connections that answer by a function; it notes what was sent, cut and given back. */
  function setUp(answer: (text: string) => unknown = () => 'rows', limits: string | null = null) {
    const log: string[] = [];
    const state = { allowed: true, silences: 0, connectErrors: [] as Error[] };
    const connection = () => ({
      connection: { stream: { destroy: () => log.push('cut') } },
      query: async (text: string) => {
        log.push(text);
        const result = answer(text);
        if (result instanceof Error) throw result;
        return result;
      },
      release: (broken?: boolean) => log.push(broken ? 'dropped' : 'released'),
    });
    const idle: ReturnType<typeof connection>[] = [];
    const pool = Object.assign(new EventEmitter(), {
      connect: async () => {
        const error = state.connectErrors.shift();
        if (error) throw error;
        const reused = idle.shift();
        if (reused) return reused;
        const opened = connection();
        pool.emit('connect', opened);
        return opened;
      },
      end: async () => void log.push('ended'),
    });
    const failures: (DatabaseProblem | 'read' | 'write')[] = [];
    const guarded = guardPool(pool as unknown as pg.Pool, {
      watch: {
        failed: (problem, error) => {
          failures.push(problem);
          return new DatabaseUnavailableError(problem, error);
        },
        answered: (isWrite) => failures.push(isWrite ? 'write' : 'read'),
        status: () => ({ problem: null, sinceMs: null }),
      },
      rest: {
        allows: async () => state.allowed,
        begin: () => {
          state.silences += 1;
        },
        get silences() {
          return state.silences;
        },
      },
      leaveOutLimits: () => log.push('limits left out'),
      limitsOf: () => limits,
    });
    return { guarded, pool, idle, log, state, failures };
  }
  const query = async (client: PostgresPoolClient, text: string) =>
    client.query<unknown>(text, []).then(String, (error: unknown) => error as Error & { problem?: string });

  test('default: statements pass, and the connection goes back', async () => {
    const { guarded, log, failures } = setUp();
    const client = await guarded.connect();
    for (const text of ['select 1', ' Insert into t', 'delete from t', 'with x as (update t) select 1']) {
      expect(await query(client, text)).toBe('rows');
    }
    client.release();
    await guarded.end();
    expect(log.slice(-2)).toEqual(['released', 'ended']);
    expect(failures).toEqual(['read', 'write', 'write', 'read']);
  });

  test('behavior: a broken idle connection does not end the process', () => {
    const { pool } = setUp();
    expect(() => pool.emit('error', new Error('broken'))).not.toThrow();
  });

  test.each([
    ['an error of the statement', coded('23505'), undefined, 'released', 0],
    ['a slow statement', coded('57014'), 'slow_statement', 'released', 0],
    ['a read-only database', coded('25006'), 'read_only', 'released', 0],
    ['a missing right', coded('42501'), 'no_right', 'released', 0],
    ['a lost connection', coded('ECONNRESET'), 'unreachable', 'dropped', 0],
    ['a silence', new Error('Query read timeout'), 'silent', 'dropped', 1],
  ] as const)('behavior: after %s', async (_, failure, problem, end, silences) => {
    const { guarded, log, state, failures } = setUp((text) => (text === 'bad' ? failure : 'rows'));
    const client = await guarded.connect();
    const error = await query(client, 'bad');
    expect(problem === undefined ? error : (error as { problem?: string }).problem).toBe(problem ?? failure);
    expect([await query(client, 'good'), failures]).toEqual(['rows', [problem ?? 'read', 'read']]);
    client.release();
    expect([log.at(-1), state.silences]).toEqual([end, silences]);
  });

  test('error: that of a connect, which is silent, refused or anything else', async () => {
    const { guarded, state, log } = setUp();
    const problemOfConnect = () =>
      guarded.connect().then(
        () => 'connected',
        ({ problem }) => problem,
      );
    state.connectErrors = [coded('28P01')];
    expect([await problemOfConnect(), state.silences]).toEqual(['bad_password', 0]);
    state.connectErrors = [new TypeError('unknown')];
    expect([await problemOfConnect(), state.silences]).toEqual(['unreachable', 0]);
    state.connectErrors = [coded('ETIMEDOUT')];
    expect([await problemOfConnect(), state.silences]).toEqual(['silent', 1]);
    state.allowed = false;
    expect([await problemOfConnect(), log]).toEqual(['silent', []]);
  });

  test('behavior: a pooler that refuses the limits is asked again without them', async () => {
    const { guarded, state, log } = setUp();
    state.connectErrors = [coded('08P01', 'unsupported startup parameter: statement_timeout')];
    (await guarded.connect()).release();
    expect(log).toEqual(['limits left out', 'released']);
  });

  test('behavior: connections from before a silence are cut, and a new one is opened', async () => {
    const { guarded, pool, idle, log, state } = setUp();
    const before = await pool.connect();
    state.silences = 1;
    idle.push(before);
    expect(await query(await guarded.connect(), 'select 1')).toBe('rows');
    expect(log).toEqual(['cut', 'dropped', 'select 1']);
  });

  describe('with limits for each transaction', () => {
    const LIMITS = 'set local statement_timeout = 5';

    test('behavior: a statement alone becomes a transaction', async () => {
      const { guarded, log } = setUp(undefined, LIMITS);
      await query(await guarded.connect(), 'select 1');
      expect(log).toEqual([`begin; ${LIMITS}`, 'select 1', 'commit']);
    });

    test('behavior: a transaction sets them at its begin, and nothing else changes', async () => {
      const { guarded, log } = setUp(undefined, LIMITS);
      const client = await guarded.connect();
      for (const text of ['BEGIN', 'select 1', 'select 2', 'commit', 'select 3', 'start transaction', 'rollback ']) {
        await query(client, text);
      }
      expect(log).toEqual([
        ...[`BEGIN; ${LIMITS}`, 'select 1', 'select 2', 'commit'],
        ...[`begin; ${LIMITS}`, 'select 3', 'commit'],
        ...[`start transaction; ${LIMITS}`, 'rollback '],
      ]);
    });

    test.each([
      ['is rolled back', coded('57014'), [`begin; ${LIMITS}`, 'bad', 'rollback']],
      ['is left where the connection is lost', coded('ECONNRESET'), [`begin; ${LIMITS}`, 'bad']],
    ])('behavior: a failing statement %s', async (_, failure, expected) => {
      const { guarded, log } = setUp((text) => (text === 'bad' || text === 'rollback' ? failure : 'rows'), LIMITS);
      expect(await query(await guarded.connect(), 'bad')).toBeInstanceOf(DatabaseUnavailableError);
      expect(log).toEqual(expected);
    });
  });
});

describe(createDatabase, () => {
  /** The options that the driver gets. */
  async function optionsOf(url: string, more: { readonly connectTimeoutMs?: number } = {}) {
    const given: pg.PoolConfig[] = [];
    const Pool = pg.Pool;
    const spy = vi.spyOn(pg, 'Pool').mockImplementation(function Spied(options?: pg.PoolConfig) {
      given.push(options ?? {});
      return new Pool(options);
    } as never);
    try {
      await createDatabase({ url, poolSize: 7, statementTimeoutMs: 250, ...more }).destroy();
    } finally {
      spy.mockRestore();
    }
    return given[0] as pg.PoolConfig & { readonly onConnect: (client: unknown) => Promise<void> };
  }

  test('default: limits of time on both sides, and a name', async () => {
    expect(await optionsOf('postgres://127.0.0.1:1/x')).toMatchObject({
      ...{ connectionString: 'postgres://127.0.0.1:1/x', max: 7, keepAlive: true, application_name: 'spiral-gateway' },
      ...{ connectionTimeoutMillis: 3_000, idleTimeoutMillis: 30_000 },
      ...{ statement_timeout: 250, query_timeout: 1_250, idle_in_transaction_session_timeout: 250 },
    });
    expect(await optionsOf('postgres://127.0.0.1:1/x', { connectTimeoutMs: 9 })).toMatchObject({
      connectionTimeoutMillis: 9,
    });
  });

  test.each([
    ['?sslmode=prefer', '?sslmode=verify-full'],
    ['?sslmode=require&a=1', '?sslmode=verify-full&a=1'],
    ['?a=1&sslmode=verify-ca', '?a=1&sslmode=verify-full'],
    ['?sslmode=no-verify', '?sslmode=no-verify'],
    ['?sslmode=required', '?sslmode=required'],
    ['?mysslmode=require', '?mysslmode=require'],
  ])('behavior: %s is taken as %s', async (query, taken) => {
    expect((await optionsOf(`postgres://127.0.0.1:1/x${query}`)).connectionString).toBe(
      `postgres://127.0.0.1:1/x${taken}`,
    );
  });
});

describe(clientsWith, () => {
  const limits = { statement_timeout: 5, idle_in_transaction_session_timeout: 6 };
  interface Wire {
    stream: unknown;
    attachListeners(stream: EventEmitter): void;
  }
  const wireOf = (client: pg.Client) => (client as unknown as { readonly connection: Wire }).connection;

  test('behavior: bytes that are no protocol close the connection with their code, and throw nothing', () => {
    const client = new (clientsWith(() => false))(limits);
    const closed: unknown[] = [];
    const stream = new EventEmitter();
    wireOf(client).stream = { destroy: (error: unknown) => closed.push(error) };
    wireOf(client).attachListeners(stream);
    // An authentication of a kind that does not exist.
    stream.emit('data', Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0x63]));
    expect(closed).toEqual([expect.objectContaining({ code: CORRUPTED, message: 'the server sent no valid frame' })]);
    expect(() => client.emit('error', new Error('broken'))).not.toThrow();
  });

  test.each([false, true])('behavior: limits of time are left out where a pooler refuses them: %s', (isPlain) => {
    const { connectionParameters } = new (clientsWith(() => isPlain))(limits) as unknown as {
      readonly connectionParameters: Readonly<Record<keyof typeof limits, unknown>>;
    };
    const { statement_timeout, idle_in_transaction_session_timeout } = connectionParameters;
    expect([statement_timeout, idle_in_transaction_session_timeout]).toEqual(isPlain ? [false, false] : [5, 6]);
  });
});

describe(createReplicaReads, () => {
  /** Reads over a replica that reports these lags; an error is thrown. */
  function setUp(lags: (string | null | Error)[], newest?: Date | null, maxLagSec = 10) {
    const clock = { nowMs: 50_000, now: () => clock.nowMs };
    const logs = captureLogs();
    let checks = 0;
    const driver = new (class extends DummyDriver {
      override async acquireConnection() {
        return {
          executeQuery: async ({ sql: text }: { readonly sql: string }) => {
            if (text.includes('max(sampled_at)')) return { rows: [{ newest }] as never[] };
            checks += 1;
            const lag = lags.length > 1 ? lags.shift() : lags[0];
            if (lag instanceof Error) throw lag;
            return { rows: [{ isStandby: newest === undefined, lag }] as never[] };
          },
          streamQuery: async function* () {},
        };
      }
    })();
    const replica: Database = new Kysely({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => driver,
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
    const watch = createDatabaseWatch(silentLogger, clock);
    const reads = createReplicaReads({ replica, watch, clock, logger: logs.logger, maxLagSec });
    let failure: Error | undefined;
    const read = reads.prefer(
      async (n: number) => {
        if (failure) throw failure;
        return `replica ${n}`;
      },
      async (n: number) => `primary ${n}`,
    );
    return {
      ...{ clock, logs, watch, reads, read, checks: () => checks },
      fail: (error?: Error) => {
        failure = error;
      },
    };
  }

  test.each([
    ['0', 'replica 1'],
    ['10', 'replica 1'],
    ['10.001', 'primary 1'],
    [null, 'primary 1'],
    ['-119.999', 'replica 1'],
    ['-120', 'primary 1'],
  ])('behavior: a replica that is %s s behind, of 10, is read: %s', async (lag, place) => {
    const { read, reads } = setUp([lag]);
    expect(await read(1)).toBe(place);
    const isLate = place.startsWith('primary');
    expect(reads.status()).toEqual(isLate ? { problem: 'late', sinceMs: 50_000 } : { problem: null, sinceMs: null });
  });

  test.each([5_000, -5_000])('behavior: its lag is checked again after 5 s: %s ms', async (ms) => {
    const { clock, read, checks } = setUp(['0', '11', '11', '9']);
    await Promise.all([read(1), read(2)]);
    clock.nowMs += ms - Math.sign(ms);
    expect([await read(3), checks()]).toEqual(['replica 3', 1]);
    clock.nowMs += Math.sign(ms);
    expect([await read(4), checks()]).toEqual(['primary 4', 2]);
  });

  test('behavior: says once that it is late since its first check, and once that it is used again', async () => {
    const { clock, logs, read, reads } = setUp(['11', '12', '9', '0']);
    for (let i = 0; i < 4; i += 1) {
      await read(i);
      if (i === 1) expect(reads.status()).toEqual({ problem: 'late', sinceMs: 50_000 });
      clock.nowMs += 5_000;
    }
    expect(logs.take()).toEqual([
      'warn read replica is not used: it is late {"lagSec":11,"maxLagSec":10}',
      'info read replica is used again {"lagSec":9}',
    ]);
  });

  test('behavior: after a failure the primary is read for 5 s, and then the lag is checked anew', async () => {
    const { clock, read, checks, fail } = setUp(['0']);
    expect(await read(1)).toBe('replica 1');
    fail(new DatabaseUnavailableError('unreachable'));
    expect(await read(2)).toBe('primary 2');
    fail();
    clock.nowMs += 4_999;
    expect([await read(3), checks()]).toEqual(['primary 3', 1]);
    clock.nowMs += 1;
    expect([await read(4), await read(5), checks()]).toEqual(['replica 4', 'replica 5', 2]);
  });

  test('behavior: a check that fails is a failure; another error is thrown', async () => {
    const { read, fail } = setUp([new DatabaseUnavailableError('silent'), '0']);
    expect(await read(1)).toBe('primary 1');
    const broken = setUp(['0']);
    broken.fail(new TypeError('a defect'));
    await expect(broken.read(1)).rejects.toThrow('a defect');
    fail();
  });

  test.each([
    [new Date(50_000), 'replica 1'],
    [new Date(40_000), 'replica 1'],
    [new Date(39_999), 'primary 1'],
    [null, 'primary 1'],
  ])('behavior: a copy that is no standby is as late as its newest sample, %s: %s', async (newest, place) => {
    expect(await setUp([null], newest).read(1)).toBe(place);
  });

  test.each(['42P01', '42703', '3F000'])(
    'behavior: code %s is another schema, until a read works again',
    async (code) => {
      const { clock, logs, read, reads, fail } = setUp(['0']);
      fail(coded(code));
      expect([await read(1), await read(2)]).toEqual(['primary 1', 'primary 2']);
      clock.nowMs += 5_000;
      expect([await read(3), reads.status()]).toEqual(['primary 3', { problem: 'other_schema', sinceMs: 50_000 }]);
      expect(logs.take()).toEqual(['warn read replica is not used: it has another schema {}']);
      fail();
      clock.nowMs += 5_000;
      expect([await read(4), reads.status()]).toEqual(['replica 4', { problem: null, sinceMs: null }]);
    },
  );

  test('behavior: an outage of the replica is named before its lag', async () => {
    const { clock, read, reads, watch } = setUp(['11']);
    await read(1);
    clock.nowMs += 1;
    watch.failed('unreachable');
    expect(reads.status()).toEqual({ problem: 'unreachable', sinceMs: 50_001 });
  });
});

test('behavior: each problem has a reason that callers may see', () => {
  const reasons = new Set(Object.values(DATABASE_PROBLEMS).map(({ reason }) => reason));
  expect([...reasons].sort()).toEqual(['rejected', 'server_error', 'timeout', 'unreachable']);
});

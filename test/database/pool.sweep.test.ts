import { EventEmitter } from 'node:events';
import type { PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { guardPool } from '../../src/database/connection/pool.ts';
import type { DatabaseProblem } from '../../src/database/connection/problems.ts';
import { coded } from './driver-error.ts';

describe(guardPool, () => {
  /** A pool of connections that answer by a function; it records the sent statements, and the cut and returned connections. */
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

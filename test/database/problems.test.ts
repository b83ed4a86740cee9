import { describe, expect, test } from 'vitest';
import { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { CORRUPTED, DATABASE_PROBLEMS, problemOf } from '../../src/database/connection/problems.ts';
import { coded } from './driver-error.ts';

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
      problem: 'bad_password',
      code: 'upstream_unavailable',
      retryAfterSec: 2,
      details: { provider: 'database', reason: 'rejected' },
      cause: new Error('database driver: 28P01'),
    });
  });

  test.each([undefined, 'text', new Error('secret'), coded(5)])(
    'behavior: without a code the problem stands in: %s',
    (error) => {
      expect(new DatabaseUnavailableError('silent', error).cause).toEqual(new Error('database driver: silent'));
    },
  );
});

test('behavior: each problem has a reason that callers may see', () => {
  const reasons = new Set(Object.values(DATABASE_PROBLEMS).map(({ reason }) => reason));
  expect([...reasons].sort()).toEqual(['rejected', 'server_error', 'timeout', 'unreachable']);
});

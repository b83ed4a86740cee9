import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MIGRATE_USAGE, runMigrateCli } from '../../src/database/cli.ts';
import { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { BUNDLED_MIGRATE } from '../support/bundle.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Run the command of the bundle. */
function migrate(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, ...env } };
    execFile(process.execPath, [BUNDLED_MIGRATE, ...argv], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** Run the command with a database that fails. */
async function failing(argv: readonly string[], error: Error | undefined): Promise<Run> {
  const run = { code: 0, out: '', err: '' };
  const fail = async (): Promise<never> => {
    throw error;
  };
  run.code = await runMigrateCli(argv, {
    databaseUrl: () => (error === undefined ? undefined : 'postgres://somewhere'),
    apply: fail,
    inspect: fail,
    write: (text) => {
      run.out += text;
    },
    writeError: (text) => {
      run.err += text;
    },
  });
  return run;
}

describe('npm run migrate', () => {
  test('default: lists pending migrations, applies them once, and lists none', async () => {
    const before = await migrate(['--status']);
    expect([before.code, before.out]).toEqual([2, expect.stringContaining('Pending: 0001_rate_samples, ')]);
    const applied = await migrate([]);
    expect([applied.code, applied.out, applied.err]).toEqual([0, expect.stringContaining('Applied: 0001_'), '']);
    expect(await migrate([])).toEqual({ code: 0, out: 'No migration is pending.\n', err: '' });
    expect((await migrate(['--status'])).out).toBe('Pending: none.\nOf newer versions: none.\n');
  });

  test('error: one line for a database that does not answer, without the password', async () => {
    const url = 'postgres://owner:hunter2@127.0.0.1:1/spiral';
    const { code, err } = await migrate([], { DATABASE_URL: url, START_WAIT_SEC: '0' });
    expect([code, err.trim().split('\n').length]).toEqual([1, 1]);
    expect(err).toContain('DATABASE_URL: Postgres at 127.0.0.1:1/spiral gives no usable answer (unreachable).');
    expect(err).not.toMatch(/hunter2|owner/);
  });

  test('default: --grants prints statements without a connection, and quotes the role', async () => {
    const { code, out } = await failing(['--grants', 'my "role"'], undefined);
    expect(code).toBe(0);
    expect(out).toContain('GRANT SELECT ON position_registrations TO "my ""role""";\n');
    expect(out).toContain('GRANT SELECT ON gateway_migrations TO ');
  });

  test.each([[['--grants', '']], [['--unknown']], [['more']]])('error: usage for %j', async (argv) => {
    const { code, err } = await failing(argv, undefined);
    expect([code, err.endsWith(MIGRATE_USAGE)]).toEqual([1, true]);
  });

  test('error: names the problem of --status, and a missing setting', async () => {
    const away = await failing(['--status'], new DatabaseUnavailableError('bad_password'));
    expect(away).toEqual({
      code: 1,
      out: '',
      err: 'DATABASE_URL: no usable answer (bad_password). Correct user and password.\n',
    });
    expect((await failing([], undefined)).err).toBe('Set DATABASE_URL to the Postgres database of the service.\n');
    await expect(failing([], new Error('a defect'))).rejects.toThrow('a defect');
  });
});

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { postgresDataDir, SERVICE_DATABASE, startPostgres } from '../../devnet/postgres.ts';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createKeyAdmin } from '../../src/keys/admin.ts';
import { KEYS_USAGE, runKeysCli } from '../../src/keys/cli.ts';
import { createKeyService } from '../../src/keys/verify-key.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { BUNDLED_KEYS } from '../support/bundle.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

const NOW = Date.UTC(2026, 8, 1, 12, 30);
const clock = { now: () => NOW };

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  db = createDatabase({ url: database.url, poolSize: 2, statementTimeoutMs: 5_000 });
});
afterEach(async () => {
  await db.deleteFrom('api_keys').execute();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly opened: number;
}

async function keys(...argv: string[]): Promise<Run> {
  let out = '';
  let err = '';
  let opened = 0;
  const code = await runKeysCli(argv, {
    open: async () => {
      opened += 1;
      return { admin: createKeyAdmin({ db, clock }), close: async () => {} };
    },
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
  });
  return { code, out, err, opened };
}

function textOf(run: Run): string {
  const [text] = /sg_\w+/.exec(run.out) ?? [];
  if (text === undefined) throw new Error('no key in the output');
  return text;
}

async function verdict(text: string): Promise<string | null> {
  const service = createKeyService({ db, clock, timers: systemTimers, graceMs: 0, logger: silentLogger });
  const verified = await service.verify(`Bearer ${text}`);
  await service.close();
  return verified?.label ?? null;
}

/** Replace random values. */
function steady(text: string): string {
  return text
    .replace(/sg_(partner|ops)_\w+/g, 'sg_$1_<random>')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/(?<=^|replaces |"prefix": ")[0-9a-z]{8}(?= |"|,)/gm, '<prefix>');
}

describe('runKeysCli', () => {
  test('default: issue, list, rotate, revoke', async () => {
    const issued = await keys('issue', '--tier', 'partner', '--label', 'Acme', '--expires', '90d');
    expect(issued).toMatchObject({ code: 0, err: '' });
    expect(steady(issued.out)).toMatchInlineSnapshot(`
      "sg_partner_<random>

      The key is shown only once: pass it on or store it now.

      PREFIX    TIER     STATUS  LABEL  CREATED           EXPIRES           LAST USED
      <prefix>  partner  active  Acme   2026-09-01 12:30  2026-11-30 12:30  -
      "
    `);
    const text = textOf(issued);
    expect(await verdict(text)).toBe('Acme');

    const prefix = text.split('_')[2] ?? '';
    const rotated = await keys('rotate', prefix);
    expect(steady(rotated.out)).toMatchInlineSnapshot(`
      "sg_partner_<random>

      The key is shown only once: pass it on or store it now.
      It replaces <prefix>, which expires 2026-09-02 12:30.

      PREFIX    TIER     STATUS  LABEL  CREATED           EXPIRES           LAST USED
      <prefix>  partner  active  Acme   2026-09-01 12:30  2026-11-30 12:30  -
      "
    `);
    expect([await verdict(text), await verdict(textOf(rotated))]).toEqual(['Acme', 'Acme']);

    expect(await keys('revoke', prefix)).toMatchObject({ code: 0 });
    expect([await verdict(text), await verdict(textOf(rotated))]).toEqual([null, 'Acme']);
    const listed = await keys('list');
    expect(listed.out.split('\n').filter((line) => line !== '')).toHaveLength(3);
    expect(listed.out).not.toContain('sg_');
  });

  test('behavior: JSON', async () => {
    const issued = await keys('issue', '--tier', 'ops', '--label', 'Ops', '--json');
    expect(steady(issued.out)).toMatchInlineSnapshot(`
      "{
        "key": "sg_ops_<random>",
        "id": "<uuid>",
        "prefix": "<prefix>",
        "tier": "ops",
        "status": "active",
        "label": "Ops",
        "createdAt": "2026-09-01T12:30:00.000Z",
        "expiresAt": null,
        "revokedAt": null,
        "rotatedFrom": null,
        "lastUsedAt": null
      }
      "
    `);
    const { key, prefix } = JSON.parse(issued.out) as { key: string; prefix: string };
    expect(await verdict(key)).toBe('Ops');
    const rotated = JSON.parse((await keys('rotate', prefix, '--overlap', '0', '--json')).out) as unknown;
    expect(rotated).toMatchObject({ tier: 'ops', status: 'active', replaces: { prefix, status: 'revoked' } });
    const listed = JSON.parse((await keys('list', '--json')).out) as object[];
    expect(listed).toHaveLength(2);
    expect(listed.every((entry) => !('key' in entry))).toBe(true);
  });

  test('behavior: expire', async () => {
    const prefix = textOf(await keys('issue', '--tier', 'ops', '--label', 'Ops')).split('_')[2] ?? '';
    const { out } = await keys('expire', prefix, '--in', '24h', '--json');
    expect(JSON.parse(out)).toMatchObject({ prefix, expiresAt: '2026-09-02T12:30:00.000Z' });
  });

  test('behavior: a label cannot steer the terminal', async () => {
    await keys('issue', '--tier', 'ops', '--label', 'a\u001b[2Jb\nc');
    const { out } = await keys('list');
    expect(out).toContain('a?[2Jb?c');
  });

  test('behavior: help', async () => {
    expect(await keys('--help')).toMatchObject({ code: 0, out: KEYS_USAGE, opened: 0 });
    expect(await keys()).toMatchObject({ code: 2, out: KEYS_USAGE, opened: 0 });
  });

  test.each([
    ['nonsense'],
    ['issue'],
    ['issue', '--tier', 'partner'],
    ['issue', '--tier', 'admin', '--label', 'x'],
    ['issue', '--tier', 'ops', '--label', 'x', '--expires', 'soon'],
    ['rotate'],
    ['rotate', 'abc', '--overlap', '-1h'],
    ['expire', 'abc'],
    ['revoke', 'abc', 'def'],
    ['list', '--unknown'],
  ])('error: invalid arguments do not open the database: %s %s %s %s', async (...argv) => {
    const run = await keys(...argv.filter((argument) => argument !== undefined));
    expect(run).toMatchObject({ code: 2, out: '', opened: 0 });
    expect(run.err).not.toBe('');
  });

  test('error: an unknown or inactive key', async () => {
    expect(await keys('revoke', 'abcdefgh')).toMatchObject({ code: 1, out: '' });
    const prefix = textOf(await keys('issue', '--tier', 'ops', '--label', 'Ops')).split('_')[2] ?? '';
    await keys('revoke', prefix);
    expect(await keys('rotate', prefix)).toMatchObject({ code: 2, out: '' });
  });
});

describe('npm run keys', () => {
  const worlds: string[] = [];
  afterAll(async () => {
    await Promise.all(worlds.map((folder) => rm(folder, { recursive: true, force: true })));
  });

  function world(): string {
    const folder = join(tmpdir(), `spiral-gateway-test-${randomUUID()}`);
    worlds.push(folder);
    return folder;
  }

  function run(env: Record<string, string>, ...argv: string[]): Promise<Run> {
    const { PATH = '' } = process.env;
    return new Promise((resolve) => {
      execFile(process.execPath, [BUNDLED_KEYS, ...argv], { env: { PATH, ...env } }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err, opened: 0 }),
      );
    });
  }

  test('default: DATABASE_URL and KEY_PEPPER', async () => {
    const issued = await run(
      { DATABASE_URL: database.url, KEY_PEPPER: 'a pepper of some length' },
      ...['issue', '--tier', 'ops', '--label', 'Ops'],
    );
    expect(issued).toMatchObject({ code: 0, err: '' });
    const service = createKeyService({
      db,
      clock,
      timers: systemTimers,
      graceMs: 0,
      logger: silentLogger,
      pepper: 'a pepper of some length',
    });
    expect(await service.verify(`Bearer ${textOf(issued)}`)).toMatchObject({ label: 'Ops' });
    await service.close();
  });

  test('behavior: without DATABASE_URL, starts the database of the local world, or uses that of the running service', async () => {
    const folder = world();
    expect(await run({ DEVNET_DATA_DIR: folder }, 'issue', '--tier', 'ops', '--label', 'Ops')).toMatchObject({
      code: 0,
    });
    const postgres = await startPostgres({ dataDir: postgresDataDir(folder), logger: silentLogger });
    const url = await postgres.createDatabase(SERVICE_DATABASE);
    const local = createDatabase({ url, poolSize: 1, statementTimeoutMs: 5_000 });
    await local.updateTable('api_keys').set({ label: 'Renamed' }).execute();
    const listed = await run({ DEVNET_DATA_DIR: folder }, 'list', '--json');
    expect(JSON.parse(listed.out)).toMatchObject([{ label: 'Renamed', tier: 'ops' }]);
    await local.destroy();
    await postgres.stop();
  });

  test('error: names the setting without its value', async () => {
    const away = await run({ DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/x' }, 'list');
    expect(away).toMatchObject({ code: 1, out: '' });
    expect(away.err).toContain('DATABASE_URL');
    expect(away.err).not.toMatch(/hunter2|someone/);
    const missing = await run({ NODE_ENV: 'production' }, 'list');
    expect(missing).toMatchObject({ code: 1, out: '' });
    expect(missing.err).toContain('KEY_PEPPER');
    const noDatabase = await run({ NODE_ENV: 'production', KEY_PEPPER: 'sixteen-characters' }, 'list');
    expect(noDatabase).toMatchObject({ code: 1, out: '' });
    expect(noDatabase.err).toContain('DATABASE_URL');
  });
});

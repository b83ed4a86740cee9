import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, needsLocalWorld, parseEnv } from '../../../src/config/config.ts';
import { envSchema } from '../../../src/config/env.ts';
import { renderEnvExample } from '../../../src/config/env-example.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { migrations } from '../../../src/database/migrations/index.ts';
import { BUNDLED_KEYS, BUNDLED_MAIN } from '../../support/bundle.ts';
import { createTestDatabase, type TestDatabase } from '../../support/process/postgres.ts';
import { descendants, type ProcessRef, type Running, run, survivors } from '../../support/process/process.ts';
import { eventually, spawnService } from '../../support/process/spawn-service.ts';

/** The grace period of orchestrators. */
const STOP_MS = 10_000;
const hasProc = existsSync('/proc/self/stat');

let folder: string;
let worlds = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-cli-'));
});
/** In the project, where the bundle finds its packages. */
const outdir = join('node_modules', '.cache', `spiral-gateway-build-${process.pid}`);
afterAll(() => Promise.all([folder, outdir].map((path) => rm(path, { recursive: true, force: true }))));

const started: Running[] = [];
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await ended;
  }
});

/** Settings of a separate world on free ports; the rest of the environment is empty. */
function ownWorld(): Record<string, string> {
  const own = join(folder, String(++worlds));
  return {
    PORT: '0',
    DEVNET_PORT_1: '0',
    DEVNET_PORT_4663: '0',
    DEVNET_CONTROL_PORT: '0',
    DEVNET_DATA_DIR: own,
    SNAPSHOT_FILE: join(own, 'snapshot.json'),
  };
}
function start(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Running {
  const running = run(command, args, env);
  started.push(running);
  return running;
}
/** The same program as `npm start` runs, without the seconds that loading its sources takes. */
const bundled = (env: Readonly<Record<string, string>>) => start(process.execPath, [BUNDLED_MAIN], env);

/** Bundle the service, and start it in a world of its own as the guide does, but for the settings of an installation. */
async function startBuilt(): Promise<Running> {
  const built = start(process.execPath, ['scripts/build.mjs', outdir], {});
  expect(await built.ended).toBe(0);
  expect(built.stderr()).toBe('');
  const guide = await readFile('docs/operations.md', 'utf8');
  expect(guide).toMatch(/^NODE_ENV=production node dist\/main\.js$/m);
  return start(process.execPath, [join(outdir, 'main.js')], ownWorld());
}

/** Run one printed `curl` line without curl: the URL, headers and body that it would send. */
async function execute(line: string): Promise<Response> {
  const [, url = ''] = /curl '([^']+)'/.exec(line) ?? [];
  const headers = [...line.matchAll(/-H '([^:']+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]);
  const [, body] = /-d '([^']+)'/.exec(line) ?? [];
  return fetch(url, {
    headers: Object.fromEntries(headers),
    method: body === undefined ? 'GET' : 'POST',
    body: body ?? null,
  });
}

async function stopsCleanly(running: Running, below: readonly ProcessRef[]): Promise<void> {
  const before = performance.now();
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
  expect(performance.now() - before).toBeLessThan(STOP_MS);
  expect(await survivors(below)).toEqual([]);
}

describe('npm start', () => {
  test('as built by npm run build: prints its URLs and examples, works, names a taken port, and leaves no processes', async () => {
    const running = await startBuilt();
    await running.output('Ready');
    const output = running.stdout();
    expect(output.split('\n')[0]).toBe('Starting spiral-gateway: loading the sources.');
    expect(output).toMatch(/Starting the local world[\s\S]*\n\d+ s: waiting for [\s\S]*Starting the service/);
    expect(output).toContain('local world');
    expect(output.split('\n').filter((line) => !line.includes(' s: waiting for ')).length).toBeLessThan(30);
    const urls = [...output.matchAll(/http:\/\/127\.0\.0\.1:\d+[^\s',]*/g)].map(([url]) => url);
    const page = await fetch(urls.find((url) => url.endsWith('/graphql')) ?? '', {
      headers: { accept: 'text/html' },
    });
    expect(await page.text()).toContain('<html');
    for (const key of ['local-partner', 'local-ops']) expect(output).toContain(key);
    const pages = urls.filter((url) => /\/(v1\/strategies|docs|ops|health)$/.test(url));
    expect(new Set(pages.map((url) => new URL(url).pathname)).size).toBe(4);
    for (const url of pages) expect([url, (await fetch(url)).status]).toEqual([url, 200]);

    const lines = output.split('\n').filter((line) => line.includes('curl '));
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const response = await execute(line);
      expect([line, response.status]).toEqual([line, 200]);
      const body = (await response.json()) as { errors?: unknown; count?: number };
      expect(body.errors).toBeUndefined();
      if (body.count !== undefined) expect(body.count).toBeGreaterThan(0);
    }
    const strategies = urls.find((url) => url.endsWith('/v1/strategies')) ?? '';
    const { count } = (await (await fetch(strategies)).json()) as { count: number };
    expect(count).toBeGreaterThan(10);
    // A Postgres that is slow beside other tests is said in the log, and is no fault of the start.
    const warnings = running.stderr().split('\n');
    expect(
      warnings.filter((line) => line !== '' && !line.includes('"provider":"database","reason":"timeout"')),
    ).toEqual([]);

    const portAfter = (word: RegExp) => word.exec(output)?.[1] ?? '';
    const { port } = new URL(urls[0] ?? '');
    const taken = {
      PORT: port,
      DEVNET_PORT_1: portAfter(/Chains .*?1 at http:\/\/127\.0\.0\.1:(\d+)/),
      DEVNET_CONTROL_PORT: portAfter(/Control .*:(\d+)/),
    };
    for (const [setting, number] of Object.entries(taken)) {
      const second = bundled({ ...ownWorld(), [setting]: number });
      expect(await second.ended).toBe(1);
      expect(second.stderr()).toContain(number);
      expect(second.stderr()).toContain(`set ${setting} `);
      expect(second.stderr()).not.toContain('    at ');
      expect(second.stderr().trim().split('\n')).toHaveLength(1);
      // Before anything is started.
      expect(second.stdout()).not.toContain('Starting the local world');
    }
    expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200);

    const below = hasProc ? await descendants(running.child.pid ?? 0) : [];
    if (hasProc) expect(below.map(({ command }) => command).join(' ')).toMatch(/anvil.*postgres|postgres.*anvil/);
    await stopsCleanly(running, below);
  });

  test.skipIf(!hasProc)('a signal to npm ends all its child processes', async () => {
    const running = start('npm', ['start'], { ...ownWorld(), HOME: folder });
    // The service listens; the reads of all sources up to "Ready" take as long as everything before.
    await running.output('local-partner');
    const below = await descendants(running.child.pid ?? 0);
    expect(below.map(({ command }) => command).join(' ')).toContain('anvil');
    running.child.kill('SIGTERM');
    await running.ended;
    expect(await survivors(below)).toEqual([]);
  });

  test.skipIf(!hasProc)('a stop during the start leaves no processes', async () => {
    const running = bundled(ownWorld());
    await running.output('Starting the local world');
    const below = await eventually(
      () => descendants(running.child.pid ?? 0),
      (found) => {
        if (running.child.exitCode !== null) throw new Error(running.stderr());
        return found.some(({ command }) => command.startsWith('anvil'));
      },
    );
    running.child.kill('SIGTERM');
    await running.ended;
    expect(await survivors(below)).toEqual([]);
  });
});

describe('invalid settings', () => {
  const PRODUCTION = { NODE_ENV: 'production' };
  const NODE = 'http://127.0.0.1:9';
  const REFUSED = [
    ['production without anything', PRODUCTION, ['RPC_URL_1', 'RPC_URL_4663', 'DATABASE_URL', 'KEY_PEPPER']],
    ['one chain alone', { RPC_URL_1: NODE }, ['RPC_URL_4663']],
    [
      'several mistakes',
      { PORT: '-1', LOG_LEVEL: 'loud', RPC_TIMEOUT_MS: 'x' },
      ['PORT', 'LOG_LEVEL', 'RPC_TIMEOUT_MS'],
    ],
  ] as const;
  test.each(REFUSED)('%s: the process exits with 1 and names the problem', async (_, env, named) => {
    const running = start(process.execPath, [BUNDLED_MAIN], { ...ownWorld(), ...env });
    expect(await running.ended).toBe(1);
    for (const name of named) expect(running.stderr()).toContain(name);
    expect(running.stderr()).not.toContain('    at ');
    expect(running.stdout().replace('Starting spiral-gateway: loading the sources.\n', '')).toBe('');
  });

  test.each([
    ['production with one chain', { ...PRODUCTION, RPC_URL_1: NODE }, ['RPC_URL_4663', 'DATABASE_URL']],
    [
      'production without a database',
      { ...PRODUCTION, RPC_URL_1: NODE, RPC_URL_4663: NODE },
      ['DATABASE_URL', 'KEY_PEPPER'],
    ],
    ['the other chain alone', { RPC_URL_4663: NODE }, ['RPC_URL_1']],
    ['a port that is none', { PORT: 'http' }, ['PORT']],
  ] as const)('error: ConfigError for %s', (_, env, named) => {
    const refused = (): unknown => needsLocalWorld(parseEnv(env));
    expect(refused).toThrow(ConfigError);
    for (const name of named) expect(refused).toThrow(name);
  });
});

describe('a start in production', () => {
  type Line = Readonly<Record<string, unknown>> & { readonly msg: string };
  const linesOf = (text: string): Line[] =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  /** Nodes and providers that are away do not prevent a start. */
  const AWAY = 'http://127.0.0.1:9';
  let database: TestDatabase;
  let production: Record<string, string>;
  beforeAll(async () => {
    database = await createTestDatabase();
    production = {
      ...ownWorld(),
      NODE_ENV: 'production',
      RPC_URL_1: AWAY,
      RPC_URL_4663: AWAY,
      DATABASE_URL: database.url,
      KEY_PEPPER: 'sixteen-characters',
      ...Object.fromEntries(Object.keys(envSchema.shape).flatMap((name) => (isProvider(name) ? [[name, AWAY]] : []))),
    };
  });
  afterAll(() => database.drop());
  const isProvider = (name: string) => /_URL$/.test(name) && !/^(DATABASE|REDIS|APP)_/.test(name);

  test('logs its steps in order, the first one before the sources are loaded, and names a misspelt setting', async () => {
    const { url, log, end } = await spawnService({ ...production, REFRESH_PRICE_SEC: '60', STOP_DRAIN_SEC: '0' });
    expect((await fetch(`${url}/ready`)).status).toBe(503);
    expect(await end('SIGTERM')).toBe(0);
    const lines = log.map((line) => JSON.parse(line) as Line);
    const STEPS = ['starting', 'unknown setting', 'database ready', 'snapshot restored', 'listening', 'stopped'];
    expect(lines.map(({ msg }) => msg).filter((msg) => STEPS.includes(msg))).toEqual(STEPS);
    expect(lines[0]).toMatchObject({ msg: 'starting', role: 'all', node: expect.stringMatching(/^v\d/) });
    expect(lines[1]).toMatchObject({ level: 40, name: 'REFRESH_PRICE_SEC', nearest: 'REFRESH_PRICES_SEC' });
    // The first step is not behind the loading of the sources.
    const source = await readFile('src/main.ts', 'utf8');
    const main = source.slice(source.indexOf('async function main()'));
    for (const first of ["say('Starting", "'starting')"])
      expect(main.indexOf(first)).toBeLessThan(main.indexOf('await'));
  });

  test.each([
    ['KEY_PEPPER', { KEY_PEPPER: '' }, /set KEY_PEPPER as well\. KEY_PEPPER is a secret of 16 random characters/, []],
    ['a misspelt KEY_PEPPER', { KEY_PEPPER: '', KEY_PEPER: 'sixteen-characters' }, /KEY_PEPPER/, ['KEY_PEPPER']],
    ['a port that is none, of a quiet process', { PORT: 'http', LOG_LEVEL: 'silent' }, /PORT: /, []],
    ['a level of the log that is none', { LOG_LEVEL: 'loud' }, /LOG_LEVEL: /, []],
    ['the right password', { DATABASE_URL: 'of another user' }, /^DATABASE_URL: .*\(bad_password\)/, []],
  ] as const)('without %s ends with 1 and a line of JSON that says what to do', async (_, env, reason, nearest) => {
    const ofAnother = new URL(database.url);
    ofAnother.password = 'hunter2';
    const settings = 'DATABASE_URL' in env ? { ...env, DATABASE_URL: ofAnother.href } : env;
    const running = start(process.execPath, [BUNDLED_MAIN], { ...production, ...settings });
    expect(await running.ended).toBe(1);
    expect(running.stdout()).toBe('');
    const lines = linesOf(running.stderr());
    // Work that was under way may log its end afterwards.
    expect(lines.filter(({ msg }) => msg === 'start failed')).toEqual([
      { level: 50, time: expect.any(String), reason: expect.stringMatching(reason), msg: 'start failed' },
    ]);
    expect(lines.flatMap((line) => (line.msg === 'unknown setting' ? [line.nearest] : []))).toEqual(nearest);
    expect(running.stderr()).not.toMatch(/hunter2|sixteen-characters/);
  });

  test('with MIGRATE_ON_START=false on the schema of the version before: ends with 1 and names migrations and command', async () => {
    const before = await createTestDatabase();
    await migrateDatabase(before.url, { known: migrations.slice(0, -1) });
    const settings = { ...production, DATABASE_URL: before.url, MIGRATE_ON_START: 'false' };
    const running = start(process.execPath, [BUNDLED_MAIN], settings);
    expect(await running.ended).toBe(1);
    const { reason } = linesOf(running.stderr()).find(({ msg }) => msg === 'start failed') as Line;
    expect(reason).toContain(
      `the migrations ${migrations.at(-1)?.name} are not applied, and MIGRATE_ON_START is false`,
    );
    expect(reason).toContain('Run "npm run migrate" (node dist/migrate.js)');
    await before.drop();
  });

  test('default: the keys of the guide, with the program beside the service', async () => {
    const guide = await readFile('docs/operations.md', 'utf8');
    const [, chapter = ''] = /\n## Keys\n([\s\S]*?)\n## /.exec(guide) ?? [];
    expect(chapter).toContain('node dist/keys.js');
    const { DATABASE_URL, KEY_PEPPER, NODE_ENV } = production;
    const keys = async (argv: readonly string[]) => {
      const running = start(process.execPath, [BUNDLED_KEYS, ...argv], { DATABASE_URL, KEY_PEPPER, NODE_ENV } as never);
      const code = await running.ended;
      return { code, out: running.stdout(), err: running.stderr() };
    };
    const commands = [...chapter.matchAll(/^npm run keys -- (.*?)\s*(?:#.*)?$/gm)].map(([, text = '']) => text);
    expect(commands.map((text) => text.split(' ')[0])).toEqual(['issue', 'list', 'rotate', 'expire', 'revoke']);
    let prefix = '';
    for (const text of commands) {
      const argv = text.split(' ').map((word) => (word === '<prefix>' ? prefix : word.replaceAll('"', '')));
      const { code, out, err } = await keys([...argv, '--json']);
      expect([text, code, err]).toEqual([text, 0, '']);
      prefix ||= /"prefix": ?"([^"]+)"/.exec(out)?.[1] ?? '';
    }
    const { out } = await keys(['list', '--json']);
    expect(JSON.parse(out)).toHaveLength(2);
  });
});

describe('.env.example', () => {
  test('has every variable of the schema', async () => {
    const text = await readFile('.env.example', 'utf8');
    expect(text).toBe(renderEnvExample());
    const named = [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(Object.keys(envSchema.shape).sort());
    const [, first = ''] = text.split(/^## .*$/m);
    expect(first.match(/^(?:# )?[A-Z0-9_]+=/gm)).toHaveLength(10);
  });
});

import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dailyCalls, seeded } from '../../bench/reliability/calls.ts';
import { startLoad } from '../../bench/reliability/load.ts';
import { startWorld } from '../../devnet/index.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { freePort } from '../../test/support/free-port.ts';
import { descendants, survivors } from '../../test/support/process/process.ts';
import { type Block, blocksOf, relocated } from './chapter.ts';
import { assertObserved, CHECKS, type Check, HEALTHY, OBSERVED, type Places } from './checks.ts';
import { type Shell, startShell } from './shell.ts';

/*
 * Follow the chapter "From an empty machine" of docs/installation.md on this machine, check the result, and remove it:
 * `npm run walk`. It needs root and the packages of the chapter; nodes and providers are those of the local world.
 */

const PROGRAMS = ['redis-server', 'redis-cli', 'pgbouncer', 'haproxy', 'prometheus', 'promtool', 'openssl', 'curl'];
const REPLACEMENT = 'Replace a process';
const PER_SECOND = 20;
/**
 * Longest time to wait for a state, ms: for the first look of Prometheus, or, on a busy machine, for a process that met a
 * timeout in its start, whose next statement or call may be minutes away.
 */
const PATIENCE_MS = 180_000;

const startedMs = Date.now();
const say = (text: string) =>
  process.stdout.write(`${((Date.now() - startedMs) / 1_000).toFixed(1).padStart(6)} s  ${text}\n`);

const missing = PROGRAMS.filter((program) => spawnSync('which', [program]).status !== 0);
if (missing.length > 0 || process.getuid?.() !== 0) {
  process.stderr.write(
    `The walk needs root, and the packages of docs/installation.md. Missing: ${missing.join(', ') || 'root'}.\n`,
  );
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-walk-'));
await chmod(folder, 0o755); // Postgres and PgBouncer run as another user
const ports = new Map<string, number>();
const guide = blocksOf(await readFile('docs/installation.md', 'utf8'));
for (const { text } of guide) for (const [port] of text.matchAll(/\b\d{4,5}\b/g)) ports.set(port, await freePort());
const portOf = (port: string): number => ports.get(port) ?? 0;
const at = (port: string): string => `http://127.0.0.1:${portOf(port)}`;
const blocks = relocated(guide, portOf, { code: process.cwd(), data: folder });
const world = await startWorld({ dataDir: join(folder, 'world'), mining: 'interval', logger: silentLogger });
say('the local world stands for nodes and providers');
const {
  DATABASE_URL: _database,
  STOP_DRAIN_SEC: _drain,
  ALERT_LOCAL_TARGETS: _targets, // refused in production
  ...outside
} = world.overrides.env;
const { PATH = '', HOME = '' } = process.env;
const shell = startShell(folder, { PATH, HOME, ...outside, RATE_LIMIT_ANONYMOUS: '0', RATE_LIMIT_PARTNER: '0' });
let failure: unknown;
try {
  await walk(shell, blocks);
} catch (error) {
  failure = error;
}
const started = await descendants(shell.pid);
await shell.stop();
await world.stop();
const left = await survivors(started, 10_000);
for (const { pid } of left) process.kill(pid, 'SIGKILL');
if (failure === undefined && left.length > 0) failure = new Error(`still running: ${JSON.stringify(left)}`);
if (failure === undefined) {
  await rm(folder, { recursive: true, force: true });
  say(`stopped, ${started.length} processes`);
} else {
  process.stderr.write(`${failure instanceof Error ? failure.message : failure}\nLogs and settings are in ${folder}\n`);
  process.exitCode = 1;
}

async function walk({ run }: Shell, steps: readonly Block[]): Promise<void> {
  if (!steps.at(-1)?.name.includes(REPLACEMENT)) throw new Error(`the chapter does not end with "${REPLACEMENT}"`);
  for (const { name, text } of steps.slice(0, -1)) {
    await within(PATIENCE_MS, name, run(name, text));
    say(name);
  }
  const keyIn = async (file: string) => (JSON.parse(await readFile(join(folder, file), 'utf8')) as { key: string }).key;
  const places: Places = {
    proxy: at('8787'),
    warmers: [at('8801'), at('8802')],
    apis: [at('8803'), at('8804')],
    prometheus: at('9090'),
    partnerKey: await keyIn('partner.json'),
    opsKey: await keyIn('ops.json'),
  };
  const check = async (one: Check) => say(`checked: ${one.name} (${await one.run(places)})`);
  await until(() => HEALTHY.run(places));
  for (const one of [HEALTHY, ...CHECKS]) await check(one);
  await replaceUnderLoad(run, steps.at(-1) as Block, places);
  await until(() => HEALTHY.run(places));
  for (const one of CHECKS) await one.run(places);
  await until(() => assertObserved(places));
  await check(OBSERVED);
}

/** Bound a block of the guide: it may wait for a process that has ended. @throws Error after the time */
async function within(ms: number, name: string, running: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`"${name}" has not ended after ${ms / 1_000} s`)), ms);
  });
  await Promise.race([running, late]).finally(() => clearTimeout(timer));
}

/** Repeat until it succeeds. @throws its last error after `PATIENCE_MS` */
async function until(holds: () => Promise<unknown>): Promise<void> {
  for (const deadlineMs = Date.now() + PATIENCE_MS; ; ) {
    const error = await holds().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error === null) return;
    if (Date.now() > deadlineMs) throw error;
    await new Promise((next) => setTimeout(next, 500));
  }
}

/** Execute the last block while callers read through the proxy. */
async function replaceUnderLoad(run: Shell['run'], { name, text }: Block, places: Places): Promise<void> {
  const load = startLoad({
    targets: () => [places.proxy],
    perSecond: PER_SECOND,
    maxOpen: 100,
    next: dailyCalls(createCatalog(curatedChains), places.partnerKey, seeded(1)),
  });
  await run(name, text);
  const { requests, statuses, failures } = await load.stop();
  if (statuses['200'] !== requests || requests < PER_SECOND) {
    throw new Error(`${name}: ${JSON.stringify({ statuses, failures })}`);
  }
  say(`${name}: ${requests} requests meanwhile, all answered 200`);
}

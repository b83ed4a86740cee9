import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DataDirInUseError, type EmbeddedPostgres, recordedDatabaseUrl, startPostgres } from '../../devnet/postgres.ts';
import { silentLogger } from '../../src/shared/logger.ts';

const PATIENCE = { timeout: 15_000, interval: 20 };

let dataDir: string;
/** A data folder after a first start and stop. Making one takes longer than everything else that a test does. */
let made: string | undefined;
const children: ChildProcess[] = [];
const running: EmbeddedPostgres[] = [];

beforeEach(() => {
  dataDir = join(tmpdir(), `spiral-gateway-test-${randomUUID()}`);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
  await rm(dataDir, { recursive: true, force: true });
});

/** Beside the packages, so that it finds those that it imports. */
const HOLDER = join('node_modules/.cache/spiral-gateway', `hold-postgres-${process.pid}.mjs`);
let bundled: Promise<unknown> | undefined;

/** The program that holds a database, bundled once: a loader of sources takes longer than the start of a server. */
async function holder(): Promise<string> {
  bundled ??= build({
    entryPoints: ['test/support/process/hold-postgres.ts'],
    outfile: HOLDER,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  await bundled;
  return HOLDER;
}

/** Begin with a folder that was used before. */
async function used(): Promise<void> {
  if (made === undefined) {
    made = `${dataDir}-made`;
    await (await startPostgres({ dataDir: made, logger: silentLogger })).stop();
  }
  await promisify(execFile)('cp', ['-a', made, dataDir]);
}
afterAll(async () => {
  for (const path of [HOLDER, ...(made === undefined ? [] : [made])]) await rm(path, { recursive: true, force: true });
});

async function start(over: { ephemeral?: boolean; port?: number } = {}): Promise<EmbeddedPostgres> {
  const postgres = await startPostgres({ dataDir, logger: silentLogger, ...over });
  running.push(postgres);
  return postgres;
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that ends after its answer closes the session; an uncaught event would fail the run.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Start the database in a process that can be killed. */
async function startElsewhere(mode = 'kept'): Promise<{ child: ChildProcess; url: string; server: number }> {
  const child = spawn(process.execPath, [await holder(), dataDir, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const pidFile = await readFile(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8');
  return { child, url, server: Number.parseInt(pidFile, 10) };
}

async function hasEnded(url: string): Promise<void> {
  await vi.waitFor(() => expect(query(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' }), PATIENCE);
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

describe('startPostgres', () => {
  test('default: keeps data between starts and creates a database once', async () => {
    const first = await start();
    const url = await first.createDatabase('gateway');
    await query(url, 'create table kept as select 42 as answer');
    expect(await first.createDatabase('gateway')).toBe(url);
    await first.stop();
    await expect(query(url, 'select 1')).rejects.toThrow();

    const second = await start();
    expect(await query(await second.createDatabase('gateway'), 'select * from kept')).toEqual([{ answer: 42 }]);
  });

  test('behavior: accepts only loopback connections with the private password', async () => {
    await used();
    const postgres = await start();
    const addresses = await query(postgres.url, 'show listen_addresses');
    expect(addresses).toEqual([{ listen_addresses: '127.0.0.1' }]);
    const stranger = new URL(postgres.url);
    stranger.password = 'guess';
    await expect(query(stranger.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    for (const file of ['password', 'connection.json', 'owner.json']) {
      expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
    }
  });

  test('behavior: records the URL of the running service and removes it at the end', async () => {
    await used();
    const postgres = await start();
    expect(await recordedDatabaseUrl(dataDir)).toBe(await postgres.createDatabase('gateway'));
    await Promise.all([postgres.stop(), postgres.stop()]);
    expect(await recordedDatabaseUrl(dataDir)).toBeUndefined();
  });

  test('error: DataDirInUseError', async () => {
    const outcomes = await Promise.allSettled([start(), start()]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    const refusal = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(refusal?.reason).toBeInstanceOf(DataDirInUseError);
    expect(refusal?.reason).toMatchObject({ pid: process.pid });
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('behavior: ends with its process, by %s', async (signal) => {
    await used();
    const { child, url } = await startElsewhere();
    await query(url, 'create table kept as select 42 as answer');
    await kill(child, signal);
    await hasEnded(url);
    const again = await start();
    expect(await query(again.url, 'select * from kept')).toEqual([{ answer: 42 }]);
  });

  test('behavior: starts right after a crash', async () => {
    await used();
    const { child, url, server } = await startElsewhere();
    const guards = await childrenOf(child.pid);
    for (const guard of guards.filter((pid) => pid !== server)) process.kill(guard, 'SIGKILL');
    await kill(child, 'SIGKILL');
    await query(url, 'select 1'); // orphaned: no parent is left to end it
    const again = await start();
    await expect(query(url, 'select 1')).rejects.toThrow();
    expect(await query(again.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('behavior: recovers after a kill', async () => {
    await used();
    const { child, url, server } = await startElsewhere();
    await query(url, 'create table kept as select 42 as answer');
    process.kill(server, 'SIGKILL');
    await kill(child, 'SIGKILL');
    const again = await start();
    expect(await query(again.url, 'select * from kept')).toEqual([{ answer: 42 }]);
  });

  test('behavior: ignores a pid file whose pid belongs to another process, and does not touch that process', async () => {
    await used();
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    children.push(stranger);
    const pidFile = join(dataDir, 'cluster', 'postmaster.pid');
    await writeFile(pidFile, `${stranger.pid}\n${join(dataDir, 'cluster')}\n`);
    await chmod(pidFile, 0o644);
    await start();
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  test('behavior: takes over an owner file that is dead or damaged', async () => {
    await used();
    for (const content of ['{"pid":1,"birth":"another boot:1"}', `{"pid":${process.pid},"birth":"x"}`, '{"pi']) {
      await writeFile(join(dataDir, 'owner.json'), content);
      await (await start()).stop();
    }
    expect((await readdir(dataDir)).sort()).toEqual(['cluster', 'password']);
  });

  test('behavior: ephemeral leaves no files, even when killed', async () => {
    await (await start({ ephemeral: true })).stop();
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    const { child, url } = await startElsewhere('ephemeral');
    await kill(child, 'SIGKILL');
    await hasEnded(url);
    await vi.waitFor(() => expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' }), PATIENCE);
  });

  // A clone in root's home or in a private temporary folder: the server's own account cannot get in there.
  test.runIf(process.getuid?.() === 0)('behavior: root may own the data directory', async () => {
    await mkdir(dataDir, { mode: 0o700 });
    const postgres = await startPostgres({ dataDir: join(dataDir, 'inner'), ephemeral: true, logger: silentLogger });
    running.push(postgres);
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await recordedDatabaseUrl(join(dataDir, 'inner'))).toBeDefined();
    const [{ data_directory: cluster }] = (await query(postgres.url, 'show data_directory')) as [
      { data_directory: string },
    ];
    await postgres.stop();
    await expect(stat(cluster)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('behavior: ephemeral refuses a non-empty folder', async () => {
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'precious'), '');
    await expect(start({ ephemeral: true })).rejects.toThrow();
    expect(await readdir(dataDir)).toEqual(['precious']);
  });
});

async function childrenOf(pid: number | undefined): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

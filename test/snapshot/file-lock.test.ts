import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemTimers, type Timers } from '../../src/shared/timers.ts';
import { createFileSnapshot } from '../../src/snapshot/file.ts';
import { type FileLock, type FileLockDeps, lockFile, SnapshotFileInUseError } from '../../src/snapshot/file-lock.ts';
import { processSpace, startOf } from '../../src/snapshot/process-space.ts';
import { keepAll, price, publication } from './facts.ts';
import { rememberingLogger } from './logs.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-lock-'));
  path = join(folder, 'snapshot.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const clock = { now: () => 50_000 };
/** Timers that are due at once. */
const hurried: Timers = { setTimeout: (callback) => setImmediate(callback), clearTimeout: () => {} };
const lock = (more: Partial<FileLockDeps> = {}) => lockFile({ path, clock, timers: systemTimers, ...more });
const plant = (owner: unknown): Promise<void> => writeFile(`${path}.lock`, JSON.stringify(owner));
const owner = async () => JSON.parse(await readFile(`${path}.lock`, 'utf8'));
const here = async (pid: number) => ({
  id: 'another',
  pid,
  host: hostname(),
  space: await processSpace(),
  startedAt: await startOf(pid),
});
const elsewhere = { id: 'another', pid: process.pid, host: hostname(), space: 'another container', startedAt: '1' };

describe('startOf', () => {
  /** Field 22 of a process's line, the name of its program left out. */
  const fieldOf = async (pid: number) =>
    (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/\(.*\)/, 'name').split(' ')[21];

  test('behavior: is known for any name of the program, and not for a process that does not run', async () => {
    expect(await startOf(process.pid)).toBe(await fieldOf(process.pid));
    const program = join(folder, 'a) b (c');
    await symlink('/bin/sleep', program);
    const child = spawn(program, ['60']);
    await once(child, 'spawn');
    const ended = once(child, 'exit');
    try {
      const start = await startOf(child.pid ?? 0);
      expect([start, /^\d+$/.test(start ?? '')]).toEqual([await fieldOf(child.pid ?? 0), true]);
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    expect(await startOf(child.pid ?? 0)).toBeNull();
  });
});

describe('lockFile', () => {
  test('behavior: is readable for its owner alone, renewed every 2 s, and left by a release without a timer', async () => {
    const due: number[] = [];
    const cleared: unknown[] = [];
    const timers: Timers = {
      setTimeout: (_callback, ms) => due.push(ms),
      clearTimeout: (handle) => cleared.push(handle),
    };
    const held = await lock({ timers });
    expect([(await stat(`${path}.lock`)).mode & 0o777, due]).toEqual([0o600, [2_000]]);
    await held.release();
    await held.release();
    expect([cleared[0], await readdir(folder)]).toEqual([1, []]);
  });

  test('behavior: the lock of another container is free after 15 s without a renewal, looked at twice a second', async () => {
    await plant(elsewhere);
    const waits: number[] = [];
    const timers: Timers = {
      setTimeout: (callback, ms) => {
        waits.push(ms);
        return ms === 500 ? setImmediate(callback) : null;
      },
      clearTimeout: () => {},
    };
    const held = await lock({ timers });
    expect(waits).toEqual([...Array.from({ length: 30 }, () => 500), 2_000]);
    await held.release();
  });

  test('behavior: the lock of another container is free as soon as it is removed', async () => {
    await plant(elsewhere);
    let looks = 0;
    const timers: Timers = {
      ...hurried,
      setTimeout: (callback) => {
        looks += 1;
        return looks === 2 ? rm(`${path}.lock`).then(() => setImmediate(callback)) : setImmediate(callback);
      },
    };
    const held = await lock({
      timers: { ...timers, setTimeout: (callback, ms) => (ms === 500 ? timers.setTimeout(callback, ms) : null) },
    });
    expect([looks, (await owner()).pid]).toEqual([2, process.pid]);
    await held.release();
  });

  test('behavior: a process that exists and may not be signalled holds its lock', async () => {
    const theirs = await here(process.ppid);
    await plant(theirs);
    const signal = vi.spyOn(process, 'kill');
    try {
      for (const [code, isHeld] of [
        ['EPERM', true],
        ['ESRCH', false],
      ] as const) {
        signal.mockImplementation(() => {
          throw Object.assign(new Error('not permitted'), { code });
        });
        const outcome = await lock().catch((error: unknown) => error);
        expect([code, outcome instanceof SnapshotFileInUseError]).toEqual([code, isHeld]);
        if (!isHeld) await (outcome as FileLock).release();
      }
    } finally {
      signal.mockRestore();
    }
  });

  test('behavior: a process whose start is not known holds its lock while its pid runs', async () => {
    await plant({ ...(await here(process.ppid)), startedAt: null });
    await expect(lock()).rejects.toBeInstanceOf(SnapshotFileInUseError);
  });

  test('behavior: a lock that was taken away is noticed once, renewed no more and not removed', async () => {
    const due: (() => void)[] = [];
    let losses = 0;
    const timers: Timers = { setTimeout: (callback) => due.push(callback), clearTimeout: () => {} };
    const held = await lock({ timers, onLost: () => losses++ });
    expect(await held.isOurs()).toBe(true);
    await plant(elsewhere);
    const before = (await stat(`${path}.lock`)).mtimeMs;
    due.shift()?.();
    await expect.poll(() => losses).toBe(1);
    expect([await held.isOurs(), await held.isOurs(), losses, due.length]).toEqual([false, false, 1, 0]);
    await held.release();
    expect([await owner(), (await stat(`${path}.lock`)).mtimeMs]).toEqual([elsewhere, before]);
  });

  test('error: SnapshotFileInUseError while another process of this machine runs; its lock is left alone', async () => {
    const theirs = await here(process.ppid);
    await plant(theirs);
    await expect(lock()).rejects.toThrow(`process ${process.ppid} on host ${hostname()}`);
    expect([await owner(), await readdir(folder)]).toEqual([theirs, ['snapshot.json.lock']]);
  });

  test('error: SnapshotFileInUseError for a second store of the same process', async () => {
    const first = await lock();
    await expect(lock()).rejects.toBeInstanceOf(SnapshotFileInUseError);
    await first.release();
    await (await lock()).release();
    expect(await readdir(folder)).toEqual([]);
  });

  test('behavior: takes the lock of an ended process over at once, also if its pid is used again', async () => {
    const ended = spawnSync(process.execPath, ['-e', '']).pid;
    const reused = { ...(await here(process.ppid)), startedAt: '1' };
    for (const theirs of [await here(ended), reused, await here(process.pid), 'not a lock', { pid: 'x' }]) {
      await plant(theirs);
      const held = await lock();
      expect(await owner()).toMatchObject({ pid: process.pid, host: hostname() });
      await held.release();
      expect(await readdir(folder)).toEqual([]);
    }
  });

  test.each([
    ['another container with our host name and pid', elsewhere],
    ['another host', { ...elsewhere, host: 'another-host' }],
    ['a version before', { pid: process.pid, host: hostname() }],
  ])('behavior: the lock of %s holds while it is renewed, and is free when it is not', async (_, theirs) => {
    await plant(theirs);
    let looks = 0;
    const renewing: Timers = {
      ...hurried,
      setTimeout: (callback) => {
        looks += 1;
        const due = () => setImmediate(callback);
        return looks === 3 ? utimes(`${path}.lock`, looks, looks).then(due) : due();
      },
    };
    let waits = 0;
    await expect(lock({ timers: renewing, onWait: () => waits++ })).rejects.toBeInstanceOf(SnapshotFileInUseError);
    expect([waits, looks, await owner()]).toEqual([1, 3, theirs]);
    const started: (() => void)[] = [];
    const once: Timers = {
      ...hurried,
      setTimeout: (callback, ms) => (ms === 500 ? setImmediate(callback) : started.push(callback)),
    };
    const held = await lock({ timers: once });
    expect(await owner()).toMatchObject({ pid: process.pid, space: await processSpace() });
    await held.release();
  });

  test('behavior: a full disk on which the lock was removed leaves the file to its process', async () => {
    let lost = 0;
    const mine = await lock({ onLost: () => (lost += 1) });
    const handle = await open(folder);
    const write = vi.spyOn(Object.getPrototypeOf(handle), 'writeFile');
    await handle.close();
    write.mockRejectedValue(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    try {
      await rm(`${path}.lock`);
      expect(await mine.isOurs()).toBe(true);
      await expect(lock()).rejects.toMatchObject({ code: 'ENOSPC' });
      expect([write.mock.calls.length, await readdir(folder)]).toEqual([2, []]);
    } finally {
      write.mockRestore();
    }
    expect([await mine.isOurs(), lost]).toEqual([true, 0]);
    expect(await owner()).toMatchObject({ pid: process.pid });
    await mine.release();
  });

  test('behavior: renews the lock while the process runs, and makes a removed one anew', async () => {
    const due: (() => void)[] = [];
    let nowMs = 1_000_000;
    const timers: Timers = { setTimeout: (callback) => due.push(callback), clearTimeout: () => {} };
    const held = await lock({ clock: { now: () => nowMs }, timers });
    nowMs = 2_000_000;
    due.shift()?.();
    await expect.poll(async () => (await stat(`${path}.lock`)).mtimeMs).toBe(2_000_000);
    await rm(`${path}.lock`);
    expect([await held.isOurs(), (await owner()).pid]).toEqual([true, process.pid]);
    await held.release();
  });
});

describe('createFileSnapshot', () => {
  test.each([
    ['a file', true],
    ['a place without a file yet', false],
  ])('behavior: a symbolic link to %s stays, and what it leads to is written and locked', async (_what, isThere) => {
    const target = join(folder, 'volume', 'facts.json');
    await mkdir(join(folder, 'volume'));
    await symlink('volume/facts.json', path);
    const make = () =>
      createFileSnapshot({ path, clock, timers: systemTimers, logger: rememberingLogger(), keep: () => keepAll });
    for (const _time of isThere ? ['first', 'second'] : ['first']) {
      const store = make();
      await store.restore();
      expect(await readdir(join(folder, 'volume'))).toContain('facts.json.lock');
      await store.publish(1, 'price', publication(10, { a: price('2', 10) }));
      await store.close();
    }
    expect(await readlink(path)).toBe('volume/facts.json');
    expect((await stat(target)).isFile()).toBe(true);
    const next = make();
    await next.restore();
    expect([...next.facts(1).groups.price.items.keys()]).toEqual(['a']);
    await next.close();
  });

  test('behavior: a process that lost its file while it was stopped writes no more, and leaves the lock to the other', async () => {
    const logger = rememberingLogger();
    const store = createFileSnapshot({ path, clock, timers: systemTimers, logger, keep: () => keepAll });
    await store.restore();
    await plant(elsewhere);
    await store.publish(1, 'price', publication(10, { a: price('2', 10) }));
    await store.close();
    expect(logger.messages).toEqual(['snapshot file was taken by another process']);
    expect([store.place().ok, store.facts(1).version, await readdir(folder)]).toEqual([
      false,
      1,
      ['snapshot.json.lock'],
    ]);
    expect(await owner()).toEqual(elsewhere);
  });
});

const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const canUnshare = spawnSync('unshare', [...UNSHARE, 'true']).status === 0;

describe.skipIf(!canUnshare)(canUnshare ? 'containers' : 'skipped: this user may not make pid namespaces', () => {
  const script = join(import.meta.dirname, '../support/process/hold-file.ts');
  const started: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of started.splice(0)) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
      child.kill('SIGKILL');
      await ended;
    }
  });
  /** Lock the file in a new pid namespace, where the process has pid 1. @returns its output */
  const inContainer = async (): Promise<string> => {
    const command = [process.execPath, '--import', 'tsx', script, path];
    const child = spawn('unshare', [...UNSHARE, ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
    started.push(child);
    const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
    return String(line);
  };

  test('error: of two with one host name, one volume and pid 1 the second is refused', async () => {
    expect(await inContainer()).toBe('locked as 1');
    expect(await inContainer()).toContain(
      `SnapshotFileInUseError: ${path} is in use by process 1 on host ${hostname()}`,
    );
  });
});

import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import type { Timers } from '../shared/timers.ts';

/** Another process uses the snapshot file; the message names it and the next step. */
export class SnapshotFileInUseError extends Error {
  override readonly name = 'SnapshotFileInUseError';
}

export interface FileLockDeps {
  /** Path of the locked file; the lock is `<path>.lock` beside it. */
  readonly path: string;
  readonly clock: Clock;
  readonly timers: Timers;
}

export interface FileLock {
  release(): Promise<void>;
}

/** Interval at which the owner renews the modification time of its lock. */
const RENEW_MS = 10_000;
/** A lock of another host counts as free after this time without renewal, because its processes cannot be checked. */
const STALE_MS = 3 * RENEW_MS;
/** Attempts to read a lock that another process takes at the same moment. */
const ATTEMPTS = 3;

interface Owner {
  readonly pid: number;
  readonly host: string;
}

/**
 * Lock a file for this process. The lock of an ended process is taken over.
 * @throws SnapshotFileInUseError while another process holds it; errors of the file system
 */
export async function lockFile({ path, clock, timers }: FileLockDeps): Promise<FileLock> {
  const lock = `${path}.lock`;
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 1; !(await tryCreate(lock)); attempt++) {
    const owner = await ownerOf(lock);
    const isHeld = owner !== null && (await isRunning(owner, lock, clock.now()));
    if (isHeld || attempt > ATTEMPTS) throw inUse(path, lock, owner);
    await removeOf(lock, owner);
  }
  let renewal: unknown;
  const renewLater = (): void => {
    renewal = timers.setTimeout(() => {
      const now = new Date(clock.now());
      void utimes(lock, now, now).catch(() => {});
      renewLater();
    }, RENEW_MS);
  };
  renewLater();
  return {
    release: async () => {
      timers.clearTimeout(renewal);
      const owner = await ownerOf(lock);
      if (owner !== null && isThisProcess(owner)) await rm(lock, { force: true }).catch(() => {});
    },
  };
}

async function tryCreate(lock: string): Promise<boolean> {
  try {
    const owner: Owner = { pid: process.pid, host: hostname() };
    await writeFile(lock, JSON.stringify(owner), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** @returns `null` when there is no lock, or its content names no process */
async function ownerOf(lock: string): Promise<Owner | null> {
  try {
    const owner: unknown = JSON.parse(await readFile(lock, 'utf8'));
    const isOwner = typeof owner === 'object' && owner !== null && 'pid' in owner && 'host' in owner;
    if (!isOwner || typeof owner.pid !== 'number' || typeof owner.host !== 'string') return null;
    return { pid: owner.pid, host: owner.host };
  } catch {
    return null;
  }
}

/** Remove the lock of an ended owner. A lock that another process has taken meanwhile is restored. */
async function removeOf(lock: string, owner: Owner | null): Promise<void> {
  const aside = `${lock}.${process.pid}`;
  try {
    await rename(lock, aside);
    const moved = await ownerOf(aside);
    if (moved?.pid !== owner?.pid || moved?.host !== owner?.host) await link(aside, lock);
  } catch {
    // Another process has removed or taken it first, which the next attempt detects.
  } finally {
    await rm(aside, { force: true });
  }
}

async function isRunning(owner: Owner, lock: string, nowMs: number): Promise<boolean> {
  if (isThisProcess(owner)) return false;
  if (owner.host !== hostname()) {
    const renewedMs = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    return nowMs - renewedMs < STALE_MS;
  }
  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function isThisProcess({ pid, host }: Owner): boolean {
  return pid === process.pid && host === hostname();
}

function inUse(path: string, lock: string, owner: Owner | null): SnapshotFileInUseError {
  const who = owner === null ? 'another process' : `process ${owner.pid} on host ${owner.host}`;
  return new SnapshotFileInUseError(
    `${path} is in use by ${who}. Give each process a file of its own, or set REDIS_URL so that processes share their facts. If that process has ended, remove ${lock}.`,
  );
}

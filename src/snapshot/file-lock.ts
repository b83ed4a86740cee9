import { randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import type { Timers } from '../shared/timers.ts';
import { processSpace, startOf } from './process-space.ts';

/** Another process uses the snapshot file; the message names it and the next step. */
export class SnapshotFileInUseError extends Error {
  override readonly name = 'SnapshotFileInUseError';
}

export interface FileLockDeps {
  /** Path of the locked file; the lock is `<path>.lock` beside it. */
  readonly path: string;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called once before it waits to see whether the owner of the lock still renews it. */
  readonly onWait?: (() => void) | undefined;
  /** Called once when another process has taken the lock, because this one did not renew it in time. */
  readonly onLost?: (() => void) | undefined;
}

export interface FileLock {
  /** Whether the lock is still ours. A process that was stopped for long may have lost it. */
  isOurs(): Promise<boolean>;
  release(): Promise<void>;
}

/** Interval at which the owner renews the modification time of its lock. */
const RENEW_MS = 2_000;
/** A lock that is not renewed for this time is free. Versions before renewed theirs every 10 s. */
const STALE_MS = 15_000;
const POLL_MS = 500;
/** Attempts to read a lock that another process takes at the same moment. */
const ATTEMPTS = 3;

/** The owner of a lock. Host and pid do not distinguish containers, which may share a host name and all have pid 1. */
interface Owner {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** The processes among which the pid is unique; `null` = not known. */
  readonly space: string | null;
  /** When the process of that pid started, because pids are used again; `null` = not known. */
  readonly startedAt: string | null;
}

/** The locks that this process holds. */
const held = new Set<string>();

/**
 * Lock a file for this store. The lock of an ended process is taken over: at once where its pid can be checked, otherwise (in
 * another container or on another host) after it was not renewed for 15 s.
 * @throws SnapshotFileInUseError while another process holds it; errors of the file system
 */
export async function lockFile(deps: FileLockDeps): Promise<FileLock> {
  const { path, clock, timers, onLost } = deps;
  const lock = `${path}.lock`;
  const me = await thisOwner();
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 1; !(await tryCreate(lock, me)); attempt++) {
    const owner = await ownerOf(lock);
    if (attempt > ATTEMPTS || (await isHeld(owner, lock, deps))) throw inUse(path, lock, owner);
    await removeOf(lock, owner, me);
  }
  held.add(me.id);
  let renewal: unknown;
  const isOurs = async (): Promise<boolean> => {
    if (!held.has(me.id)) return false;
    const owner = await ownerOf(lock);
    // A lock that was removed from outside is made anew.
    if (owner?.id === me.id || (owner === null && (await tryCreate(lock, me).catch(() => true)))) return true;
    if (held.delete(me.id)) onLost?.();
    return false;
  };
  const renew = async (): Promise<void> => {
    if (!(await isOurs())) return;
    const now = new Date(clock.now());
    await utimes(lock, now, now).catch(() => {});
    renewLater();
  };
  const renewLater = (): void => {
    renewal = timers.setTimeout(() => void renew(), RENEW_MS);
  };
  renewLater();
  return {
    isOurs,
    release: async () => {
      timers.clearTimeout(renewal);
      if (!held.delete(me.id)) return;
      if ((await ownerOf(lock))?.id === me.id) await rm(lock, { force: true }).catch(() => {});
    },
  };
}

async function thisOwner(): Promise<Owner> {
  const [space, startedAt] = await Promise.all([processSpace(), startOf(process.pid)]);
  return { id: randomUUID(), pid: process.pid, host: hostname(), space, startedAt };
}

/** @returns `false` when there is a lock already */
async function tryCreate(lock: string, owner: Owner): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await open(lock, 'wx', 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
  try {
    await file.writeFile(JSON.stringify(owner));
    return true;
  } catch (error) {
    // On a full disk: an empty lock names no owner, and would be that of another process when it is read next.
    await rm(lock, { force: true }).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
}

/** @returns `null` when there is no lock, or its content names no process */
async function ownerOf(lock: string): Promise<Owner | null> {
  try {
    const owner = JSON.parse(await readFile(lock, 'utf8')) as Partial<Owner> | null;
    if (typeof owner?.pid !== 'number' || typeof owner.host !== 'string') return null;
    // Versions before wrote host and pid only.
    const { pid, host, id = '', space = null, startedAt = null } = owner;
    return { id, pid, host, space, startedAt };
  } catch {
    return null;
  }
}

/** Remove the lock of an ended owner. A lock that another process has taken meanwhile is restored. */
async function removeOf(lock: string, owner: Owner | null, me: Owner): Promise<void> {
  const aside = `${lock}.${me.id}`;
  try {
    await rename(lock, aside);
    const moved = await ownerOf(aside);
    if (moved?.id !== owner?.id || moved?.pid !== owner?.pid || moved?.host !== owner?.host) await link(aside, lock);
  } catch {
    // Another process has removed or taken it first, which the next attempt detects.
  } finally {
    await rm(aside, { force: true });
  }
}

async function isHeld(owner: Owner | null, lock: string, deps: FileLockDeps): Promise<boolean> {
  if (owner === null) return false;
  if (held.has(owner.id)) return true;
  const space = await processSpace();
  return space !== null && owner.space === space ? isRunning(owner) : isRenewed(lock, deps);
}

async function isRunning({ pid, startedAt }: Owner): Promise<boolean> {
  // This process holds its own locks in memory; another one had its pid before.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return startedAt === null || (await startOf(pid)) === startedAt;
}

/** Watch whether the modification time of the lock changes. Clocks of hosts are not compared. */
async function isRenewed(lock: string, { timers, onWait }: FileLockDeps): Promise<boolean> {
  const timeOf = () =>
    stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
  const first = await timeOf();
  onWait?.();
  for (let waitedMs = 0; waitedMs < STALE_MS; waitedMs += POLL_MS) {
    await new Promise<void>((resolve) => timers.setTimeout(resolve, POLL_MS));
    const now = await timeOf();
    if (now === null) return false;
    if (now !== first) return true;
  }
  return false;
}

function inUse(path: string, lock: string, owner: Owner | null): SnapshotFileInUseError {
  const who = owner === null ? 'another process' : `process ${owner.pid} on host ${owner.host}`;
  return new SnapshotFileInUseError(
    `${path} is in use by ${who}. Give each process a file of its own, or set REDIS_URL so that processes share their facts. If that process has ended, remove ${lock}.`,
  );
}

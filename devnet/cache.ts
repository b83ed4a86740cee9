import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { cacheFolder } from './root.ts';

const LOCK_POLL_MS = 50;
const LOCK_EXPIRES_MS = 180_000;

/**
 * Read a cached text or make it. The name must carry a hash of all inputs: entries are never invalidated.
 * With several processes at once, one makes it and the others wait. A process that died is replaced. Where the folder cannot be
 * written, each makes it for itself.
 */
export async function cached(name: string, make: () => Promise<string>): Promise<string> {
  const file = join(cacheFolder(), name);
  const lock = `${file}.lock`;
  const isKept = await mkdir(dirname(file), { recursive: true }).then(
    () => true,
    () => false,
  );
  if (!isKept) return make();
  for (;;) {
    const hit = await readIfPresent(file);
    if (hit !== undefined) return hit;
    if (await acquire(lock)) break;
    await wait(LOCK_POLL_MS);
  }
  try {
    const hit = await readIfPresent(file);
    if (hit !== undefined) return hit;
    const text = await make();
    const draft = `${file}.${randomUUID()}.tmp`;
    await writeFile(draft, text);
    await rename(draft, file); // atomic: a reader sees all of it or nothing
    return text;
  } finally {
    await rm(lock, { force: true });
  }
}

async function acquire(lock: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx');
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  }
  if (await isAbandoned(lock)) await rm(lock, { force: true });
  return false;
}

/** The process that makes it has ended, or takes longer than any work does (its pid may belong to another process now). */
async function isAbandoned(lock: string): Promise<boolean> {
  const holder = Number(await readIfPresent(lock));
  if (holder > 0 && !isAlive(holder)) return true; // NaN or 0: just being written, or just removed
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
  return Date.now() - mtimeMs > LOCK_EXPIRES_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

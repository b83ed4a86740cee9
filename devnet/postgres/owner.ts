import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, readlink, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { StartupError } from '../../src/shared/errors.ts';

const run = promisify(execFile);

/** Another process uses the data directory. Stop it, or use another directory. */
export class DataDirInUseError extends StartupError {
  override readonly name = 'DataDirInUseError';
  readonly pid: number;
  constructor(dataDir: string, pid: number) {
    super(
      `The embedded database in ${dataDir} is in use by process ${pid}: is the service already running? Stop that process, or set DEVNET_DATA_DIR to another folder or DATABASE_URL to another database.`,
    );
    this.pid = pid;
  }
}

interface Owner {
  readonly pid: number;
  /** When the process began: the same pid later is another process. */
  readonly birth: string;
}

/**
 * Claim a data directory for this process by a file in it, and return the function that releases it. The claim of an
 * ended process is taken over.
 * @throws DataDirInUseError when a living process holds it, this one included.
 */
export async function claim(dataDir: string, file: string): Promise<() => Promise<void>> {
  const draft = `${file}.${randomUUID()}`;
  const self: Owner = { pid: process.pid, birth: (await birthOf(process.pid)) ?? '' };
  await writeFile(draft, JSON.stringify(self), { mode: 0o600 });
  try {
    for (;;) {
      try {
        await link(draft, file); // fails when it exists, and is never seen half written
        return () => rm(file, { force: true });
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
      }
      const holder = await readOwner(file);
      if (holder !== undefined && (await isAlive(holder))) throw new DataDirInUseError(dataDir, holder.pid);
      await setAside(file);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Find the living processes of the server of exactly this cluster. On Linux all are found, because each works in the
 * cluster's folder; elsewhere only the one in the pid file.
 */
export async function serversOf(cluster: string, namedPid: number): Promise<readonly number[]> {
  if (process.platform === 'linux') {
    const folder = await realpath(cluster);
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
    const found = await Promise.all(pids.map(async (pid) => (await workingFolder(pid)) === folder));
    return pids.filter((_, index) => found[index]);
  }
  try {
    const { stdout } = await run('ps', ['-o', 'command=', '-p', String(namedPid)]);
    return stdout.includes(cluster) ? [namedPid] : [];
  } catch {
    return []; // no such process, or no ps
  }
}

/** A zombie process has none. */
function workingFolder(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined);
}

/** Remove the claim of an ended process. A claim that was renewed meanwhile is put back. */
async function setAside(file: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  const taken = await readOwner(aside);
  if (taken !== undefined && (await isAlive(taken))) await link(aside, file).catch(() => {});
  await rm(aside, { force: true });
}

async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}

async function isAlive(owner: Owner): Promise<boolean> {
  return (await birthOf(owner.pid)) === owner.birth;
}

async function birthOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') {
      const [boot, stat] = await Promise.all([
        readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
        readFile(`/proc/${pid}/stat`, 'utf8'),
      ]);
      // Field 22 of proc(5), counted behind the command's closing bracket; field 3 is the state (zombie).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : `${boot.trim()}:${fields[19]}`;
    }
    if (process.platform === 'win32') {
      process.kill(pid, 0);
      return '';
    }
    const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return stdout.trim();
  } catch {
    return undefined;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

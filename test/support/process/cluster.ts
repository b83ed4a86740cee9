import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalChains, StartChainsOptions } from '../../../devnet/chain/index.ts';
import { startWorld, type World } from '../../../devnet/index.ts';
import { type App, createApp } from '../../../src/app/start-and-stop.ts';
import { createConfig } from '../../../src/config/config.ts';
import { type Logger, silentLogger } from '../../../src/shared/logger.ts';
import { systemTimers } from '../../../src/shared/timers.ts';
import { withoutUndefined } from '../../../src/shared/without-undefined.ts';
import { startRedis, type TestRedis } from '../../snapshot/redis-server.ts';
import { startPooledChains } from '../chain-pool.ts';
import { createTestDatabase } from './postgres.ts';
import { type Env, type ServiceProcess, spawnService } from './spawn-service.ts';

export { eventually, type ServiceProcess, spawnService } from './spawn-service.ts';

/** One local world, one Redis and one database, on which any number of service processes run. */
export interface Cluster {
  readonly world: World;
  readonly redis: TestRedis;
  /** Folder for the facts of services without Redis. */
  readonly snapshotFile: string;
  /** Start a service in this process. */
  launch(env?: Env, logger?: Logger): Promise<App>;
  /** Start a service as a separate process, through `src/main.ts`. */
  spawn(env?: Env): Promise<ServiceProcess>;
  /** Also stops all launched and spawned services. */
  stop(): Promise<void>;
}

/** Seeding takes a second of a chain per block. */
export const SEEDING_MS = 10_000;
/** The time at which all chains of clusters of this worker begin, so that later files can take them over. */
const CHAINS_START_MS = Date.now() - SEEDING_MS;

/** Take over chains, or start some, and set their time to the present one, by which the services run. */
export async function startPresentChains(options: StartChainsOptions): Promise<LocalChains> {
  const chains = await startPooledChains({ ...options, clock: { now: () => CHAINS_START_MS } });
  for (const { chainId } of options.chains) {
    const { client, increaseTime } = chains.on(chainId);
    const { timestamp } = await client.getBlock();
    const lagSec = Math.floor(Date.now() / 1_000) - Number(timestamp);
    if (lagSec > 0) await increaseTime(lagSec);
  }
  return chains;
}

/** Start the world. Without `redis`, services keep their snapshot in files. */
export async function startCluster({ redis: wanted = true }: { readonly redis?: boolean } = {}): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-cluster-'));
  const database = await createTestDatabase();
  const world = await startWorld({
    dataDir: folder,
    mining: 'auto',
    databaseUrl: database.url,
    startChains: startPresentChains,
    logger: silentLogger,
  });
  const redis: TestRedis = wanted ? await startRedis() : { url: '', flush: async () => {}, close: async () => {} };
  const ends: (() => Promise<unknown>)[] = [];
  const settings = (env: Env): Env => ({
    NODE_ENV: 'test',
    PORT: '0',
    // The machine may be busy.
    MAX_TURN_WAIT_MS: '0',
    SNAPSHOT_FILE: join(folder, 'snapshot.json'),
    ...withoutUndefined({ REDIS_URL: wanted ? redis.url : undefined }),
    ...env,
  });
  return {
    world,
    redis,
    snapshotFile: join(folder, 'snapshot.json'),
    async launch(env = {}, logger = silentLogger) {
      const app = createApp({
        config: createConfig(settings(env), { ...world.overrides, env: { ...world.overrides.env, ...env } }),
        logger,
        clock: { now: () => Date.now() },
        timers: systemTimers,
        random: () => 0.5,
        fetch: globalThis.fetch,
      });
      ends.push(() => app.stop());
      await app.start();
      return app;
    },
    async spawn(env = {}) {
      const service = await spawnService({ ...world.overrides.env, ...settings(env) });
      ends.push(() => service.end('SIGKILL'));
      return service;
    },
    async stop() {
      await Promise.all(ends.map((end) => end()));
      await redis.close();
      await world.stop();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

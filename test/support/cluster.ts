import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startWorld, type World } from '../../devnet/index.ts';
import { type App, createApp } from '../../src/app.ts';
import { createConfig } from '../../src/config/config.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { startRedis, type TestRedis } from '../snapshot/redis-server.ts';
import { createTestDatabase } from './postgres.ts';

export type Env = Readonly<Record<string, string>>;

/** One local world, one Redis and one database, on which any number of service processes run. */
export interface Cluster {
  readonly world: World;
  readonly redis: TestRedis;
  /** Where services without Redis keep their facts. */
  readonly snapshotFile: string;
  /** Start a service in this process. */
  launch(env?: Env, logger?: Logger): Promise<App>;
  /** Start a service as a process of its own, through `src/main.ts`. */
  spawn(env?: Env): Promise<ServiceProcess>;
  /** Stops everything that was launched or spawned, too. */
  stop(): Promise<void>;
}

export interface ServiceProcess {
  readonly url: string;
  readonly metricsUrl: string | null;
  readonly child: ChildProcess;
  /** Lines of the log so far. */
  readonly log: readonly string[];
  /** Send a signal and wait for the end. Gives the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Start the world. Without `redis`, services keep their snapshot in files. */
export async function startCluster({ redis: wanted = true }: { readonly redis?: boolean } = {}): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-cluster-'));
  const database = await createTestDatabase();
  const world = await startWorld({
    dataDir: folder,
    mining: 'auto',
    databaseUrl: database.url,
    logger: silentLogger,
  });
  const redis: TestRedis = wanted ? await startRedis() : { url: '', flush: async () => {}, close: async () => {} };
  const ends: (() => Promise<unknown>)[] = [];
  const settings = (env: Env): Env => ({
    NODE_ENV: 'test',
    PORT: '0',
    SNAPSHOT_FILE: join(folder, 'snapshot.json'),
    ...(wanted ? { REDIS_URL: redis.url } : {}),
    ...env,
  });
  return {
    world,
    redis,
    snapshotFile: join(folder, 'snapshot.json'),
    async launch(env = {}, logger = silentLogger) {
      const app = createApp({
        config: createConfig(settings(env), world.overrides),
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

/** Run `src/main.ts` and wait until it listens. @throws Error with its last words when it ends before */
export async function spawnService(env: Env): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const listening = new Promise<{ url: string; metricsUrl?: string }>((resolve, reject) => {
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      log.push(line);
      if (line.includes('"msg":"listening"')) resolve(JSON.parse(line));
    });
    void ended.then(([code]) => reject(new Error(`the service ended with ${code}: ${log.slice(-5).join('\n')}`)));
  });
  const { url, metricsUrl = null } = await listening;
  return {
    url,
    metricsUrl,
    child,
    log,
    async end(signal) {
      child.kill(signal);
      const [code, killedBy] = await ended;
      return code ?? killedBy ?? 'SIGKILL';
    },
  };
}

/** Ask again until an answer satisfies: for what another process does in its own time. The test's own limit ends it. */
export async function eventually<T>(ask: () => Promise<T> | T, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

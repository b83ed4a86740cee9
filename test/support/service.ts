import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld, type World } from '../../devnet/index.ts';
import type { DeploymentSettings } from '../../devnet/seed/deployment.ts';
import { type App, createApp } from '../../src/app/start-and-stop.ts';
import { createConfig } from '../../src/config/config.ts';
import type { Logger } from '../../src/shared/logger.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Timers } from '../../src/shared/timers.ts';
import type { Sleep } from '../../src/upstreams/sleep.ts';
import { startPooledChains } from './chain-pool.ts';
import { type Answer, type Json, sendRequest } from './http-client.ts';
import { localFetch } from './local-fetch.ts';
import { createWorldDatabase, type TestDatabase } from './process/postgres.ts';
import { createTestClock, type TestClock, WORLD_START_MS } from './test-clock.ts';

export type { Answer, Json } from './http-client.ts';

export const PARTNER = { authorization: 'Bearer local-partner' };
export const OPS = { authorization: 'Bearer local-ops' };

type Settings = Readonly<Record<string, string>>;

export interface ServiceOptions {
  /** Differences from the usual deployment of the product's contract. */
  readonly deployment?: Partial<DeploymentSettings> | undefined;
  /** Settings in addition to those of the world. */
  readonly env?: Settings;
  /** Plant faults before the service starts. */
  readonly before?: (world: World) => Promise<void> | void;
  /** Settings that replace those of the world, e.g. the URL of a proxy before a chain. */
  readonly arrange?: (world: World) => Promise<Settings> | Settings;
  /** Wait for the first round of warmers. Default true. */
  readonly warm?: boolean;
  readonly logger?: Logger;
  /** For requests to providers and nodes. Default: `localFetch`; tests of the transport use that of Node. */
  readonly fetch?: typeof fetch;
  /** Wait between retries of upstreams; default: real time. */
  readonly sleep?: Sleep;
  /** Timers for timeouts of requests to upstreams; default: real ones. */
  readonly timeouts?: Timers;
  /**
   * Default: none fires, so that only `refresh` runs warmers after the first round, and the clock is held: answers differ only by
   * actions of the test between them. With timers of its own the clock runs.
   */
  readonly timers?: Timers;
  /** Database of keys, registrations and samples; default: a new one in the run's Postgres, dropped at the end. */
  readonly database?: TestDatabase;
}

/** Timers that never fire. */
const noTimers: Timers = { setTimeout: () => null, clearTimeout: () => {} };

/** No waiting: time passes only by the clock. */
export const noSleep: Sleep = async (_ms, signal) => {
  signal?.throwIfAborted();
};

/** A started local world with the service, used over HTTP. */
export interface TestService {
  readonly world: World;
  /** Of the service and of its providers. Blocks stand at the same start; `increaseTime` of a chain makes later ones. */
  readonly clock: TestClock;
  /** The running service; `restart` replaces it. */
  readonly app: App;
  readonly url: string;
  get<T = Json>(path: string, headers?: Record<string, string>): Promise<Answer<T>>;
  post<T = Json>(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
  /** Run a GraphQL document; `body` is the whole answer. */
  graphql<T = Json>(
    query: string,
    variables?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer<{ data: T; errors?: Json[]; extensions?: Json }>>;
  /** Run warmers now, e.g. `prices` or `lending-state:1`. */
  refresh(...names: string[]): Promise<void>;
  /** Stop the service and start it again on the same world, database and files. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
}

/** Advance a clock to the newest block: the seeding of a chain takes a second per block. */
async function catchUp(clock: TestClock, { chains }: World): Promise<void> {
  const blocks = await Promise.all(
    Object.keys(chains.rpcUrls).map((chainId) => chains.on(Number(chainId)).client.getBlock()),
  );
  const newestMs = Math.max(...blocks.map(({ timestamp }) => Number(timestamp) * 1_000));
  if (newestMs > clock.now()) clock.advance(newestMs - clock.now());
}

/** Start a separate world with the service. Uses free ports and removes its data at the end. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-world-'));
  const database = options.database ?? (await createWorldDatabase());
  const clock = createTestClock(WORLD_START_MS, options.timers === undefined);
  const logger = options.logger ?? silentLogger;
  const world = await startWorld({
    deployment: options.deployment,
    dataDir: folder,
    mining: 'auto',
    databaseUrl: database.url,
    isFilled: options.database === undefined,
    startChains: startPooledChains,
    clock,
    logger: silentLogger,
  });
  await catchUp(clock, world);
  await options.before?.(world);
  const arranged = (await options.arrange?.(world)) ?? {};

  const launch = async (env: Readonly<Record<string, string>>): Promise<App> => {
    // All requests come from one address, and the machine may be busy: limits are off except in tests of limits.
    const unlimited = {
      RATE_LIMIT_ANONYMOUS: '0',
      RATE_LIMIT_PARTNER: '0',
      RATE_LIMIT_OPS: '0',
      MAX_TURN_WAIT_MS: '0',
    };
    const settings = { NODE_ENV: 'test', PORT: '0', SNAPSHOT_FILE: join(folder, 'snapshot.json'), ...unlimited };
    const app = createApp({
      config: createConfig(settings, { ...world.overrides, env: { ...world.overrides.env, ...arranged, ...env } }),
      logger,
      clock,
      timers: options.timers ?? noTimers,
      sleep: options.sleep,
      timeouts: options.timeouts,
      random: () => 0.5,
      fetch: options.fetch ?? localFetch,
    });
    await app.start();
    if (options.warm ?? true) await app.warmed;
    return app;
  };
  let app = await launch(options.env ?? {});

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    sendRequest(`${app.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  return {
    world,
    clock,
    get app() {
      return app;
    },
    get url() {
      return app.url;
    },
    get: (path, headers = {}) => sendRequest(`${app.url}${path}`, { headers }),
    post,
    graphql: (query, variables = {}, headers = {}) => post('/graphql', { query, variables }, headers),
    async refresh(...names) {
      for (const name of names) await app.warmers.refresh(name);
    },
    async restart(env = options.env ?? {}) {
      await app.stop();
      app = await launch(env);
    },
    async stop() {
      await app.stop();
      await world.stop();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld, type World } from '../../devnet/index.ts';
import { type EmbeddedPostgres, SERVICE_DATABASE, startPostgres } from '../../devnet/postgres.ts';
import { createDatabase } from '../../src/database/client.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createKeyAdmin } from '../../src/keys/admin.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { startBrokenCluster, startRedis, type TestRedis } from '../../test/snapshot/redis-server.ts';
import { buildBundle } from '../../test/support/bundle.ts';
import { freePort } from '../../test/support/free-port.ts';
import { type RpcProxy, startRpcProxy } from '../../test/support/process/rpc-proxy.ts';
import { type Env, type ServiceProcess, spawnService } from '../../test/support/process/spawn-service.ts';
import { startTcpProxy, type TcpProxy } from '../../test/support/process/tcp-proxy.ts';

/** All systems around the service on one machine, each of which can be stopped. */
export interface Lab {
  readonly folder: string;
  readonly world: World;
  readonly redis: TestRedis;
  /** A Redis in cluster mode with unserved slots. */
  readonly brokenCluster: TestRedis;
  /** The proxy between the services and Redis. */
  readonly redisLine: TcpProxy;
  /** The proxy between the services and Postgres. */
  readonly postgresLine: TcpProxy;
  /** Postgres past the proxy, as the user that owns it. */
  readonly databaseUrl: string;
  readonly nodes: Readonly<Record<1 | 4663, RpcProxy>>;
  /** A key of the partner tier. */
  readonly partnerKey: string;
  stopPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  spawn(env: Env): Promise<ServiceProcess>;
  stop(): Promise<void>;
}

/** Start the local world, Postgres and Redis, with a proxy before each chain's node. */
export async function startLab(): Promise<Lab> {
  await buildBundle();
  const folder = join(tmpdir(), `spiral-gateway-lab-${randomUUID()}`);
  const port = await freePort();
  const openPostgres = () => startPostgres({ dataDir: join(folder, 'postgres'), port, logger: silentLogger });
  let postgres: EmbeddedPostgres | null = await openPostgres();
  const databaseUrl = await postgres.createDatabase(SERVICE_DATABASE);
  const partnerKey = await issueKey(databaseUrl);
  const redis = await startRedis();
  const brokenCluster = await startBrokenCluster();
  const redisLine = await startTcpProxy(Number(new URL(redis.url).port));
  const postgresLine = await startTcpProxy(port);
  const world = await startWorld({ dataDir: folder, mining: 'interval', databaseUrl, logger: silentLogger });
  const nodes = {
    1: await startRpcProxy(world.chains.on(1).rpcUrl),
    4663: await startRpcProxy(world.chains.on(4663).rpcUrl),
  };
  const services: ServiceProcess[] = [];
  const common: Env = {
    ...world.overrides.env,
    DATABASE_URL: Object.assign(new URL(databaseUrl), { port: String(postgresLine.port) }).href,
    RPC_URL_1: nodes[1].url,
    RPC_URL_4663: nodes[4663].url,
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
  };
  return {
    folder,
    world,
    redis,
    brokenCluster,
    redisLine,
    postgresLine,
    databaseUrl,
    nodes,
    partnerKey,
    async stopPostgres() {
      await postgres?.stop();
      postgres = null;
    },
    async startPostgres() {
      postgres ??= await openPostgres();
    },
    async spawn(env) {
      const service = await spawnService({ ...common, ...env });
      services.push(service);
      return service;
    },
    async stop() {
      await Promise.all(services.map((service) => service.end('SIGKILL')));
      await Promise.all([nodes[1].stop(), nodes[4663].stop(), redisLine.stop(), postgresLine.stop()]);
      await Promise.all([redis.close(), brokenCluster.close()]);
      await world.stop();
      await postgres?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function issueKey(databaseUrl: string): Promise<string> {
  await migrateDatabase(databaseUrl);
  const db = createDatabase({ url: databaseUrl, poolSize: 1, statementTimeoutMs: 5_000 });
  const { text } = await createKeyAdmin({ db, clock: systemClock }).issue({ tier: 'partner', label: 'reliability' });
  await db.destroy();
  return text;
}

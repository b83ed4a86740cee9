import { readFile, writeFile } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConfig } from '../../../src/config/config.ts';
import { type Cluster, eventually, startCluster } from '../../support/process/cluster.ts';
import { subscribe } from '../../support/sse.ts';

// Processes start here, one after the other, while other tests may keep the machine busy.
/** Deadline of a stop in a process, which ends with another code after it. */
const STOP_MS = 9_500;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ redis: false });
});
afterAll(() => cluster.stop());

/** GET over a connection that is kept alive. */
function get(agent: Agent, url: string): Promise<{ status: number; connection: string | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, connection: response.headers.connection, body }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

const untilReady = async ({ url }: { readonly url: string }): Promise<void> => {
  await eventually(
    () => fetch(`${url}/ready`),
    ({ status }) => status === 200,
  );
};

describe('SIGTERM', () => {
  test('behavior: finishes accepted requests, completes streams, and exits with 0', async () => {
    const service = await cluster.spawn();
    await untilReady(service);
    const agent = new Agent({ keepAlive: true });
    await get(agent, `${service.url}/v1/strategies`);
    const stream = await subscribe(service.url, 'subscription { freshnessChanged { version } }');
    await stream.next();
    // A relay whose provider takes its time: the answer is under way when the signal comes.
    cluster.world.upstreams.faults.set('coingecko', { kind: 'latency', ms: 1_500 }, { path: 'market_chart' });
    cluster.world.upstreams.clearRequests();
    const slow = get(agent, `${service.url}/v1/prices/chart?coinId=ethena-staked-usde`);
    const requested = () => cluster.world.upstreams.requests().some(({ path }) => path.includes('market_chart'));
    await eventually(requested, (observed) => observed);
    const ended = service.end('SIGTERM');
    const { status, connection, body } = await slow;
    expect([status, connection]).toEqual([200, 'close']);
    expect(JSON.parse(body).prices.length).toBeGreaterThan(0);
    expect(await ended).toBe(0);
    expect(await stream.next()).toSatisfy((event) => event === null || event.data !== undefined);
    cluster.world.upstreams.faults.clear('coingecko');
    agent.destroy();
  });

  test('behavior: clients that keep connections busy get an answer to every request, without a delay of the stop', async () => {
    const service = await cluster.spawn({ STOP_DRAIN_SEC: '5' });
    await untilReady(service);
    const agents = Array.from({ length: 16 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    let answered = 0;
    const served = new Set<number>();
    /** Send requests until the service closes the connection; every fourth client pauses between its requests. */
    const untilToldToLeave = async (agent: Agent, n: number): Promise<void> => {
      for (;;) {
        const { status, connection } = await get(agent, `${service.url}/v1/strategies?limit=${1 + (n % 3)}`);
        expect(status).toBe(200);
        answered += 1;
        served.add(n);
        if (connection === 'close') break;
        if (n % 4 === 0) await new Promise((resolve) => setTimeout(resolve, 100 + 50 * n));
      }
      // The next request of a client that was told to leave comes over a new connection, at once.
      const again = await get(agent, `${service.url}/v1/strategies?limit=1`);
      expect([again.status, again.connection]).toEqual([200, 'close']);
    };
    const clients = agents.map(untilToldToLeave);
    await eventually(
      () => served.size === agents.length && answered > 64,
      (isBusy) => isBusy,
    );
    const ended = service.end('SIGTERM');
    await Promise.all(clients);
    expect(await ended).toBe(0);
    for (const agent of agents) agent.destroy();
  });

  test('behavior: during the delay /ready is false and requests are answered; a second signal ends at once', async () => {
    const service = await cluster.spawn({ STOP_DELAY_SEC: '6' });
    await untilReady(service);
    const ended = service.end('SIGTERM');
    const notReady = await eventually(
      () => fetch(`${service.url}/ready`),
      ({ status }) => status === 503,
    );
    expect(await notReady.json()).toMatchObject({ ready: false, stopping: true });
    expect((await fetch(`${service.url}/v1/strategies`)).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await ended).toBe(130);
  });
});

describe('stop', () => {
  test('behavior: after the delay, a connection that stays idle ends with the time of the drain', async () => {
    const app = await cluster.launch({ STOP_DELAY_SEC: '1', STOP_DRAIN_SEC: '1' });
    const agent = new Agent({ keepAlive: true });
    expect((await get(agent, `${app.url}/health`)).status).toBe(200);
    const before = performance.now();
    await app.stop();
    expect(performance.now() - before).toBeLessThan(STOP_MS);
    await expect(get(agent, `${app.url}/health`)).rejects.toThrow();
    agent.destroy();
  });
});

describe('start', () => {
  const settings = (env: Record<string, string>) => ({
    ...cluster.world.overrides.env,
    NODE_ENV: 'test',
    PORT: '0',
    LOG_LEVEL: 'silent',
    ...env,
  });

  test.each([
    ['DATABASE_URL', { DATABASE_URL: 'mysql://127.0.0.1/x' }],
    ['REDIS_URL', { REDIS_URL: 'http://127.0.0.1:1' }],
    ['REDIS_URL', { ROLE: 'api' }],
    ['RPC_URL_1', { RPC_URL_1: 'not a url' }],
    ['PORT', { PORT: 'many' }],
    ['CATALOG_OVERLAY', { CATALOG_OVERLAY: '/nowhere/at/all.json' }],
  ])('error: ConfigError names %s', (name, env) => {
    expect(() => createConfig(settings(env))).toThrowError(
      expect.objectContaining({ name: 'ConfigError', message: expect.stringContaining(name) }),
    );
  });

  test('error: names the setting of an invalid overlay', async () => {
    const file = `${cluster.snapshotFile}.overlay.json`;
    await writeFile(file, '{"chainId":1}');
    await expect(cluster.launch({ CATALOG_OVERLAY: file })).rejects.toThrow(`CATALOG_OVERLAY: "${file}"`);
  });

  test('error: names a taken metrics port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    const { port } = (await eventually(
      () => taken.address() as AddressInfo | null,
      (address): boolean => address !== null,
    )) as AddressInfo;
    await expect(cluster.launch({ METRICS_PORT: String(port) })).rejects.toThrow('METRICS_PORT');
    taken.close();
  });

  test('behavior: starts without nodes, providers and Redis', async () => {
    const nowhere = 'http://127.0.0.1:1';
    const app = await cluster.launch({
      RPC_URL_1: nowhere,
      RPC_URL_4663: nowhere,
      COINGECKO_URL: nowhere,
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    expect((await fetch(`${app.url}/health`)).status).toBe(200);
    expect((await fetch(`${app.url}/ready`)).status).toBe(503);
    const before = performance.now();
    await app.stop();
    expect(performance.now() - before).toBeLessThan(STOP_MS);
  });
});

describe('restart', () => {
  test('behavior: serves the last facts with their true ages before any call to a provider', async () => {
    const first = await cluster.launch();
    await untilReady(first);
    const before = await (await fetch(`${first.url}/v1/strategies`)).json();
    await first.stop();
    // No source answers any more: every served value comes from the file.
    const nowhere = 'http://127.0.0.1:1';
    const second = await cluster.launch({ RPC_URL_1: nowhere, RPC_URL_4663: nowhere });
    const response = await fetch(`${second.url}/v1/strategies`);
    const after = await response.json();
    expect(response.status).toBe(200);
    expect(after.strategies.map(({ id }: { id: string }) => id).sort()).toEqual(
      before.strategies.map(({ id }: { id: string }) => id).sort(),
    );
    expect(after.strategies[0].freshness.borrow.asOf).toBe(
      before.strategies.find(({ id }: { id: string }) => id === after.strategies[0].id).freshness.borrow.asOf,
    );
    await second.stop();
  });

  test('behavior: sets a damaged file aside, names it, and continues the start', async () => {
    const file = String(cluster.snapshotFile);
    await writeFile(file, (await readFile(file, 'utf8')).slice(0, -50));
    const service = await cluster.spawn();
    expect(service.log.join('\n')).toContain('snapshot file set aside');
    await untilReady(service);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});

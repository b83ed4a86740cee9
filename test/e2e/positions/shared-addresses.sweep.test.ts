import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyNoRedis } from '../../snapshot/redis-server.ts';
import { type Cluster, type ServiceProcess, startCluster } from '../../support/process/cluster.ts';

const skipped = whyNoRedis() ?? (process.env.TEST_REDIS_URL === undefined ? null : 'a given Redis is not ours to stop');
const BUDGET = 400;

describe.skipIf(skipped !== null)(skipped ?? 'an address at two api processes', () => {
  let cluster: Cluster;
  let apis: readonly ServiceProcess[];
  beforeAll(async () => {
    cluster = await startCluster();
    const warmer = await cluster.launch({ ROLE: 'warmer' });
    await warmer.warmed;
    const env = { ROLE: 'api', RATE_LIMIT_ANONYMOUS: String(BUDGET), TRUSTED_PROXIES: '1', METRICS_PORT: '0' };
    apis = [await cluster.spawn(env), await cluster.spawn(env)];
  });
  afterAll(() => cluster?.stop());

  const ask = async (api: ServiceProcess, address: string) => {
    const response = await fetch(`${api.url}/v1/prices`, { headers: { 'x-forwarded-for': address } });
    await response.arrayBuffer();
    return response;
  };
  /** Ask until the process refuses; gives how many calls it granted. */
  const spend = async (api: ServiceProcess, address: string): Promise<number> => {
    for (let granted = 0; ; granted += 1) {
      const { status } = await ask(api, address);
      if (status === 429) return granted;
      expect(status).toBe(200);
    }
  };
  const remaining = async (api: ServiceProcess, address: string): Promise<number> =>
    Number(/r=(\d+)/.exec((await ask(api, address)).headers.get('ratelimit') ?? '')?.[1]);
  /** Charges that the process counted alone, because Redis did not answer. */
  const insured = async (api: ServiceProcess): Promise<number> => {
    const text = await (await fetch(`${api.metricsUrl}/metrics`)).text();
    return Number(/^spiral_limiter_insured_total (\d+)$/m.exec(text)?.[1]);
  };

  test('default: together they grant exactly one budget, also for concurrent requests to both', async () => {
    const granted = await Promise.all(apis.map((api) => spend(api, '192.0.2.1')));
    const total = granted.reduce((sum, count) => sum + count, 0);
    expect(total).toBe(BUDGET);
    for (const api of apis) expect(await insured(api)).toBe(0);
  });

  test('behavior: points spent at one are spent at the other', async () => {
    const [one, two] = apis as [ServiceProcess, ServiceProcess];
    for (let i = 0; i < 20; i++) await ask(one, '192.0.2.2');
    expect(await remaining(two, '192.0.2.2')).toBe(BUDGET - 21);
    expect(await remaining(two, '192.0.2.3')).toBe(BUDGET - 1);
  });

  test('behavior: while Redis is away each counts alone without delay', async () => {
    await cluster.redis.stop?.();
    expect(await Promise.all(apis.map((api) => spend(api, '192.0.2.4')))).toEqual([BUDGET, BUDGET]);
    for (const api of apis) expect(await insured(api)).toBeGreaterThanOrEqual(BUDGET);
    await cluster.redis.start?.();
  });
});

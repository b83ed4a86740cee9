import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../src/app/start-and-stop.ts';
import { connectRedis, type RedisConnection, untilAlive } from '../../../src/redis/connection.ts';
import { silentLogger } from '../../../src/shared/logger.ts';
import { LEASE_MS, LEASE_TTL_MS } from '../../../src/snapshot/lease.ts';
import { settingsOf, whyNoRedis } from '../../snapshot/redis-server.ts';
import { type Cluster, eventually, type ServiceProcess, startCluster } from '../../support/process/cluster.ts';
import type { Json } from '../../support/service.ts';

const skipped = whyNoRedis();
const get = async (base: string, path: string): Promise<{ status: number; body: Json }> => {
  const response = await fetch(`${base}${path}`);
  return { status: response.status, body: await response.json() };
};
const chainOf = (health: Json, chainId = 1) =>
  health.chains.find((chain: { chainId: number }) => chain.chainId === chainId);

describe.skipIf(skipped !== null)(skipped ?? 'roles', () => {
  let cluster: Cluster;
  let warmer: App;
  let api: App;
  let redis: RedisConnection;
  beforeAll(async () => {
    cluster = await startCluster();
    redis = connectRedis({ settings: settingsOf(cluster.redis.url), logger: silentLogger, name: 'test' });
    await untilAlive(redis, 5_000);
    warmer = await cluster.launch({ ROLE: 'warmer' });
    await warmer.warmed;
    cluster.world.upstreams.clearRequests();
    api = await cluster.launch({ ROLE: 'api' });
  });
  afterAll(async () => {
    redis?.disconnect();
    await cluster?.stop();
  });

  test('behavior: a warmer serves only its status pages', async () => {
    expect((await get(warmer.url, '/health')).status).toBe(200);
    expect((await get(warmer.url, '/ready')).status).toBe(200);
    for (const path of ['/v1/strategies', '/graphql', '/graphql?query={chains{chainId}}', '/docs', '/']) {
      const { status, body } = await get(warmer.url, path);
      expect([path, status, body.error.code]).toEqual([path, 404, 'not_found']);
    }
    const posted = await fetch(`${warmer.url}/graphql`, { method: 'POST', body: '{"query":"{ chains { chainId } }"}' });
    expect(posted.status).toBe(404);
  });

  test('behavior: an api process has the facts of the warmer at its start, and calls no provider', async () => {
    const { status, body } = await get(api.url, '/v1/strategies');
    expect(status).toBe(200);
    expect(body.strategies.length).toBeGreaterThan(10);
    expect((await get(api.url, '/ready')).status).toBe(200);
    expect(cluster.world.upstreams.requests()).toEqual([]);
    const [mine, theirs] = [await get(api.url, '/health'), await get(warmer.url, '/health')];
    expect(chainOf(mine.body).version).toBe(chainOf(theirs.body).version);
    expect(mine.body).toMatchObject({ role: 'api', snapshot: { kind: 'redis', ok: true } });
    expect(mine.body).not.toHaveProperty('jobs');
    expect(theirs.body).toMatchObject({ role: 'warmer', jobs: { standby: [] } });
    expect(theirs.body.jobs.held).toContain('prices');
  });

  test('behavior: an api process has facts measured by the warmer when a read requires younger ones', async () => {
    await cluster.world.chains.on(1).mine();
    const block = String(await cluster.world.chains.on(1).client.getBlockNumber());
    const { status, body } = await get(api.url, `/v1/prices?minBlock=${block}`);
    expect(status).toBe(200);
    expect(body.meta.readAfter).toMatchObject({ status: 'reached', reached: true, answeredAtBlock: block });
    expect(body.meta.freshness).toMatchObject([{ group: 'market_state', outcome: 'refreshed' }]);
  });

  test('behavior: a user of Redis with the rights of the guide suffices, and every line of the log is JSON', async () => {
    const [, rights = ''] = /^user (spiral on .*)$/m.exec(readFileSync('deploy/redis.acl', 'utf8')) ?? [];
    await redis.call('ACL', 'SETUSER', ...rights.replace('PASSWORD', 'secret').split(' '));
    const user = cluster.redis.url.replace('//', '//spiral:secret@');
    const service = await cluster.spawn({ ROLE: 'api', REDIS_URL: user });
    const lines = service.log.map((line) => JSON.parse(line) as { readonly msg: string });
    expect(lines.filter(({ msg }) => /redis|library/.test(msg))).toEqual([]);
    expect((await get(service.url, '/health')).body).toMatchObject({
      snapshot: { kind: 'redis', ok: true },
      redis: { mode: 'single', ok: true, failing: [] },
    });
    await service.end('SIGTERM');
    for (const line of service.log) expect(() => JSON.parse(line)).not.toThrow();
  });

  test('behavior: an api process names a failing provider that only the warmer calls', async () => {
    const incentives = async ({ url }: App) => {
      const { body } = await get(url, '/health');
      return { ...body.providers.find(({ provider }: Json) => provider === 'incentives'), overall: body.status };
    };
    expect(await incentives(api)).toMatchObject({ status: 'ok', overall: 'ok' });
    cluster.world.upstreams.faults.set('merkl', { kind: 'unauthorized' });
    await warmer.warmers.refresh('incentives:1').catch(() => {});
    const theirs = await incentives(warmer);
    expect(theirs).toMatchObject({ status: 'failing', reason: 'rejected', overall: 'degraded' });
    const mine = await eventually(
      () => incentives(api),
      ({ status }) => status === 'failing',
    );
    expect(mine).toMatchObject({ reason: 'rejected', overall: 'degraded' });
    expect(Math.abs(Date.parse(mine.failingSince) - Date.parse(theirs.failingSince))).toBeLessThan(60_000);
    cluster.world.upstreams.faults.clear();
    await warmer.warmers.refresh('incentives:1');
    await eventually(
      () => incentives(api),
      ({ status }) => status === 'ok',
    );
    cluster.world.upstreams.clearRequests();
  });

  test('behavior: an api process runs no warmer even on request', async () => {
    await expect(api.warmers.refresh('prices')).rejects.toMatchObject({ code: 'not_ready' });
  });

  test('behavior: api processes follow every version', async () => {
    const second = await cluster.launch({ ROLE: 'api' });
    const before = chainOf((await get(warmer.url, '/health')).body).version;
    await warmer.warmers.refresh('prices');
    const after = chainOf((await get(warmer.url, '/health')).body).version;
    expect(after).toBeGreaterThan(before);
    for (const { url } of [api, second]) {
      const { body } = await eventually(
        () => get(url, '/health'),
        (health) => chainOf(health.body).version >= after,
      );
      expect(chainOf(body).version).toBe(after);
    }
  });

  test('behavior: two warmers never run the same job; when one stops, the other takes over', async () => {
    const standby = await cluster.launch({ ROLE: 'warmer' });
    onTestFinished(() => standby.stop());
    await expect(standby.warmers.refresh('prices')).rejects.toMatchObject({ code: 'not_ready' });
    expect((await get(standby.url, '/health')).body.jobs.standby).toContain('prices');
    const token = await redis.get('spiral:lease:prices');
    expect(token).not.toBeNull();
    await warmer.stop();
    // A released lease is free at once; a waiting process takes it as soon as it is notified.
    expect(await redis.get('spiral:lease:prices')).not.toBe(token);
    const runs = await eventually(
      () => standby.warmers.refresh('prices').catch(() => null),
      (ran) => ran !== null,
    );
    expect(runs).toMatchObject([{ name: 'prices', ok: true }]);
    await expect(warmer.warmers.refresh('prices')).rejects.toMatchObject({ code: 'not_ready' });
  });

  test('behavior: another warmer replaces a killed one after its leases have ended', async () => {
    await warmer.stop();
    /** The holder of each job, and the end of its lease by the clock of Redis, ms. */
    const leases = async (): Promise<Map<string, { token: string; untilMs: number }>> => {
      const keys = await redis.keys('spiral:lease:*');
      const asked = keys.reduce((multi, key) => multi.get(key).pexpiretime(key), redis.multi());
      const answers = ((await asked.exec()) ?? []).map(([, answer]) => answer);
      return new Map(
        keys.flatMap((key, i) => {
          const [token, untilMs] = answers.slice(2 * i) as [string | null, number];
          return token === null ? [] : [[key, { token, untilMs }]];
        }),
      );
    };
    const doomed: ServiceProcess = await cluster.spawn({ ROLE: 'warmer' });
    const held = await eventually(leases, ({ size }) => size > 10);
    const standby = await cluster.launch({ ROLE: 'warmer' });
    onTestFinished(() => standby.stop());
    await doomed.end('SIGKILL');
    const last = [...(await leases())].filter(([job, { token }]) => token === held.get(job)?.token);
    expect(last).toHaveLength(held.size);
    // A lease that was just taken ends its time later: so when it was taken can be read from it, however late it is looked at.
    const taken = new Map<string, number>();
    await eventually(leases, (now) => {
      for (const [job, { token, untilMs }] of now) {
        if (token !== held.get(job)?.token && !taken.has(job)) taken.set(job, untilMs - LEASE_TTL_MS);
      }
      return last.every(([job]) => taken.has(job));
    });
    const tookMs = last.map(([job, { untilMs }]) => (taken.get(job) ?? 0) - (untilMs - LEASE_TTL_MS));
    expect(Math.min(...tookMs)).toBeGreaterThanOrEqual(LEASE_TTL_MS);
    // The next try is due within LEASE_MS; on a busy machine it is late.
    expect(Math.max(...tookMs)).toBeLessThan(2 * LEASE_MS);
  });
});

describe.skipIf(skipped !== null || process.env.TEST_REDIS_URL !== undefined)(skipped ?? 'without Redis', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.stop());

  test('behavior: serves ageing facts while Redis is away, and shares them again afterwards', async () => {
    const warmer = await cluster.launch({ ROLE: 'warmer' });
    await warmer.warmed;
    const api = await cluster.launch({ ROLE: 'api' });
    const before = chainOf((await get(api.url, '/health')).body);
    await cluster.redis.stop?.();
    await eventually(
      () => get(api.url, '/health'),
      ({ body }) => !body.snapshot.ok,
    );
    expect((await get(api.url, '/v1/strategies')).status).toBe(200);
    expect(chainOf((await get(api.url, '/health')).body).version).toBe(before.version);
    await cluster.redis.start?.();
    await eventually(
      () => get(api.url, '/health'),
      ({ body }) => body.snapshot.ok,
    );
    // Redis came back empty: the processes fill it from their memory.
    const late = await cluster.launch({ ROLE: 'api' });
    await eventually(
      () => get(late.url, '/v1/strategies'),
      ({ status }) => status === 200,
    );
    await Promise.all([warmer, api, late].map((app) => app.stop()));
  });

  test('behavior: a process starts without Redis, reports it, and is not ready', async () => {
    await cluster.redis.stop?.();
    const api = await cluster.launch({ ROLE: 'api' });
    const { snapshot, redis } = (await get(api.url, '/health')).body;
    expect([snapshot, redis.ok]).toEqual([{ kind: 'redis', ok: false }, false]);
    expect(new Set(redis.failing.map(({ reason }: Json) => reason))).toEqual(new Set(['unreachable']));
    expect(redis.failing).toHaveLength(6);
    expect((await get(api.url, '/ready')).status).toBe(503);
    expect((await get(api.url, '/v1/strategies')).status).toBe(503);
    await api.stop();
    await cluster.redis.start?.();
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ClusterRedis,
  type SentinelRedis,
  startRedisCluster,
  startSentinels,
} from '../support/process/redis-topologies.ts';
import { publishPrice, type RedisProcess, startProcess, untilPrice, useEverything } from './redis-flow.ts';
import { settingsOf, whyNoRedis } from './redis-server.ts';

const skipped = whyNoRedis() ?? (process.env.TEST_REDIS_URL === undefined ? null : 'a given Redis is one server');

/** Wait until a process is connected and has nothing that Redis lacks. */
async function settled({ store, connections }: RedisProcess): Promise<void> {
  while (!store.place().ok || connections.failing().length > 0) await new Promise((resolve) => setImmediate(resolve));
}

describe.skipIf(skipped !== null)(skipped ?? 'sentinels', () => {
  let redis: SentinelRedis;
  const processes: RedisProcess[] = [];
  beforeAll(async () => {
    redis = await startSentinels();
    for (let i = 0; i < 2; i++) processes.push(await startProcess(settingsOf(redis.url, 'of-sentinels')));
  }, 30_000);
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.close()));
    await redis?.close();
  });

  test('behavior: everything works through the sentinels, and again after a failover', async () => {
    const [one, other] = processes as [RedisProcess, RedisProcess];
    await useEverything(one, other, '1');
    const held = await one.lease.acquire('held');
    expect(held.lease).not.toBeNull();
    await redis.failOver();
    // Published while nobody knows yet who is the primary: kept, and shared when it is found.
    await publishPrice(one, '2');
    await untilPrice(other.store, '2');
    await Promise.all([settled(one), settled(other)]);
    await useEverything(one, other, '3');
    const fresh = await startProcess(settingsOf(redis.url, 'of-sentinels'));
    await untilPrice(fresh.store, '3', 4663);
    expect([one, other, fresh].map(({ connections }) => connections.failing())).toEqual([[], [], []]);
    await redis.revive();
    await useEverything(one, fresh, '4');
    await fresh.close();
  }, 30_000);

  test('error: names a primary that the sentinels do not know', async () => {
    const stranger = await startProcess(settingsOf(redis.url.replace(/mymaster$/, 'another'), 'x'), { waitMs: 0 });
    while (stranger.connections.failing().length < 4) await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(stranger.connections.failing().map(({ reason }) => reason))).toEqual(new Set(['unknown_primary']));
    expect(stranger.store.place().ok).toBe(false);
    expect(await stranger.lease.acquire('job')).toEqual({ lease: null, freeInMs: null });
    await stranger.close();
  }, 20_000);
});

describe.skipIf(skipped !== null)(skipped ?? 'cluster', () => {
  let cluster: ClusterRedis;
  const processes: RedisProcess[] = [];
  beforeAll(async () => {
    cluster = await startRedisCluster();
    for (let i = 0; i < 2; i++) processes.push(await startProcess(settingsOf(cluster.url, 'of-cluster')));
  }, 30_000);
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.close()));
    await cluster?.close();
  });

  test('behavior: every command and script keeps to one slot: everything works over three nodes', async () => {
    const [one, other] = processes as [RedisProcess, RedisProcess];
    await useEverything(one, other, '1');
    expect([one, other].map(({ store }) => store.place().ok)).toEqual([true, true]);
    expect([one, other].flatMap(({ connections }) => connections.failing())).toEqual([]);
  }, 20_000);

  test('behavior: serves its facts while a node is lost, says so, and fills it again when it is back', async () => {
    const [one, other] = processes as [RedisProcess, RedisProcess];
    const lost = cluster.nodes[await cluster.nodeOf('of-cluster:snapshot:5:1')];
    await lost?.stop?.();
    await cluster.until(
      'fail',
      cluster.nodes.filter((node) => node !== lost),
    );
    await publishPrice(one, '2');
    expect(one.store.facts(1).groups.price.items.get('a')?.value.usd.toFixed()).toBe('2');
    expect(one.store.place().ok).toBe(false);
    while (other.connections.failing().length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(other.store.place().ok).toBe(false);
    expect(other.store.facts(1).groups.price.items.get('a')?.value.usd.toFixed()).toBe('1');
    await lost?.start?.();
    await cluster.until('ok');
    await untilPrice(other.store, '2');
    await Promise.all([settled(one), settled(other)]);
    await useEverything(one, other, '3');
    expect([one, other].flatMap(({ connections }) => connections.failing())).toEqual([]);
  }, 30_000);

  test('error: a cluster behind redis:// is named, and holds nothing', async () => {
    const [first] = cluster.nodes;
    const wrong = await startProcess(settingsOf(first?.url ?? '', 'of-cluster'), { waitMs: 0 });
    while (wrong.connections.failing().length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(wrong.connections.failing().map(({ reason }) => reason)).toContain('wrong_mode');
    expect(wrong.store.place().ok).toBe(false);
    await wrong.close();
  }, 20_000);
});

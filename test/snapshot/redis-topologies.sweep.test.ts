import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CODEC_VERSION } from '../../src/snapshot/codec.ts';
import {
  type ClusterRedis,
  type SentinelRedis,
  startRedisCluster,
  startSentinels,
} from '../support/process/redis-topologies.ts';
import { eventually } from '../support/process/spawn-service.ts';
import { startTcpProxy } from '../support/process/tcp-proxy.ts';
import { price, publication } from './facts.ts';
import { publishPrice, type RedisProcess, startProcess, untilPrice, useEverything } from './redis-flow.ts';
import { launch, settingsOf, whyNoRedis } from './redis-server.ts';

const skipped = whyNoRedis() ?? (process.env.TEST_REDIS_URL === undefined ? null : 'a given Redis is one server');

/** Wait until a process is connected and has nothing that Redis lacks. */
async function settled({ store, connections }: RedisProcess): Promise<void> {
  await eventually(() => store.place().ok && connections.failing().length === 0, Boolean);
}

describe.skipIf(skipped !== null)(skipped ?? 'sentinels', () => {
  let redis: SentinelRedis;
  const processes: RedisProcess[] = [];
  beforeAll(async () => {
    redis = await startSentinels();
    for (let i = 0; i < 2; i++) processes.push(await startProcess(settingsOf(redis.url, 'of-sentinels')));
  });
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
    // Published while the primary is unknown: held, and shared when the primary is found.
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
  });

  test('behavior: a primary that is killed in the middle of publishes loses none, and nobody goes back', async () => {
    const [one, other] = processes as [RedisProcess, RedisProcess];
    const shown = [one, other].map(({ store }) => {
      const seen: (readonly [version: number, usd: number])[] = [];
      store.subscribe(({ chainId, version, groups }) => {
        const usd = groups.price.items.get('killed')?.value.usd;
        if (chainId === 1 && usd !== undefined) seen.push([version, usd.toNumber()]);
      });
      return seen;
    });
    let last = 0;
    let isOver = false;
    const publishing = (async () => {
      for (; !isOver || last % 10 !== 0; last += 1) {
        const nowMs = Date.now();
        const items = { killed: price(String(last + 1), nowMs) };
        // Without waiting for the one before, so that the primary dies with some of them under way.
        const published = one.store.publish(1, 'price', publication(nowMs, items));
        if (last % 10 === 9) await published;
        await new Promise(setImmediate);
      }
    })();
    await eventually(
      () => shown[1]?.length ?? 0,
      (count) => count > 20,
    );
    await redis.failOver();
    isOver = true;
    await publishing;
    const newest = ({ store }: RedisProcess) => store.facts(1).groups.price.items.get('killed')?.value.usd.toNumber();
    await eventually(
      () => newest(other),
      (usd) => usd === last,
    );
    await Promise.all([settled(one), settled(other)]);
    const fresh = await startProcess(settingsOf(redis.url, 'of-sentinels'));
    expect([one, other, fresh].map(newest)).toEqual([last, last, last]);
    for (const seen of shown) {
      const [versions, values] = [seen.map(([version]) => version), seen.map(([, usd]) => usd)];
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
      expect(values).toEqual([...values].sort((a, b) => a - b));
    }
    await redis.revive();
    await fresh.close();
  });

  test('error: names a primary that the sentinels do not know', async () => {
    const stranger = await startProcess(settingsOf(redis.url.replace(/mymaster$/, 'another'), 'x'), { waitMs: 0 });
    await eventually(
      () => stranger.connections.failing().length,
      (failing) => failing >= 4,
    );
    expect(new Set(stranger.connections.failing().map(({ reason }) => reason))).toEqual(new Set(['unknown_primary']));
    expect(stranger.store.place().ok).toBe(false);
    expect(await stranger.lease.acquire('job')).toEqual({ lease: null, freeInMs: null });
    await stranger.close();
  });
});

describe.skipIf(skipped !== null)(skipped ?? 'cluster', () => {
  let cluster: ClusterRedis;
  const processes: RedisProcess[] = [];
  beforeAll(async () => {
    cluster = await startRedisCluster();
    for (let i = 0; i < 2; i++) processes.push(await startProcess(settingsOf(cluster.url, 'of-cluster')));
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.close()));
    await cluster?.close();
  });

  test('behavior: every command and script keeps to one slot: everything works over three nodes', async () => {
    const [one, other] = processes as [RedisProcess, RedisProcess];
    await useEverything(one, other, '1');
    expect([one, other].map(({ store }) => store.place().ok)).toEqual([true, true]);
    expect([one, other].flatMap(({ connections }) => connections.failing())).toEqual([]);
  });

  test('behavior: serves its facts while a node is lost, reports it, and refills the node when it is back', async () => {
    const [one, other] = processes as [RedisProcess, RedisProcess];
    const lost = cluster.nodes[await cluster.nodeOf(`of-cluster:snapshot:${CODEC_VERSION}:1`)];
    await lost?.stop?.();
    await cluster.until(
      'fail',
      cluster.nodes.filter((node) => node !== lost),
    );
    await publishPrice(one, '2');
    expect(one.store.facts(1).groups.price.items.get('a')?.value.usd.toFixed()).toBe('2');
    expect(one.store.place().ok).toBe(false);
    await eventually(() => other.connections.failing().length > 0, Boolean);
    expect(other.store.place().ok).toBe(false);
    expect(other.store.facts(1).groups.price.items.get('a')?.value.usd.toFixed()).toBe('1');
    await lost?.start?.();
    await cluster.until('ok');
    await untilPrice(other.store, '2');
    await Promise.all([settled(one), settled(other)]);
    await useEverything(one, other, '3');
    expect([one, other].flatMap(({ connections }) => connections.failing())).toEqual([]);
  });

  test('error: a cluster behind redis:// is named, and holds nothing', async () => {
    const [first] = cluster.nodes;
    const wrong = await startProcess(settingsOf(first?.url ?? '', 'of-cluster'), { waitMs: 0 });
    await eventually(() => wrong.connections.failing().length > 0, Boolean);
    expect(wrong.connections.failing().map(({ reason }) => reason)).toContain('wrong_mode');
    expect(wrong.store.place().ok).toBe(false);
    await wrong.close();
  });
});

describe.skipIf(skipped !== null)(skipped ?? 'another primary with older data', () => {
  test('behavior: no process goes back to an older value, failure or version, and the primary is brought up to date', async () => {
    const [first, second] = [await launch([]), await launch([])];
    const line = await startTcpProxy(first.port);
    const where = settingsOf(`redis://127.0.0.1:${line.port}`, 'of-failover');
    const [one, other] = [await startProcess(where), await startProcess(where)];
    const admin = new Redis(second.url);
    const nowMs = Date.now();
    await one.store.publish(1, 'price', publication(nowMs - 9, { a: price('1', nowMs - 9) }, { b: 'timeout' }));
    await untilPrice(other.store, '1');
    // The replica has this state when its link breaks.
    await admin.call('REPLICAOF', '127.0.0.1', String(first.port));
    while (!(await admin.info('replication')).includes('master_link_status:up'));
    await admin.call('REPLICAOF', 'NO', 'ONE');
    const items = { a: price('2', nowMs - 5), b: price('7', nowMs - 5) };
    for (const atMs of [nowMs - 6, nowMs - 5]) await one.store.publish(1, 'price', publication(atMs, items));
    await untilPrice(other.store, '2');

    const observed = [one, other].map(({ store }) => {
      const versions = [store.facts(1).version];
      const prices = new Set<string | undefined>();
      store.subscribe(({ version, groups }) => {
        versions.push(version);
        const { items: now, failures } = groups.price;
        prices.add(`${now.get('a')?.value.usd} ${now.get('b')?.value.usd} ${failures.get('b')?.reason}`);
      });
      return { versions, prices };
    });
    line.lead(second.port);
    await Promise.all([settled(one), settled(other)]);
    const key = `of-failover:snapshot:${CODEC_VERSION}:1`;
    while (!(await admin.hget(key, 'price'))?.includes('"$decimal":"7"'));
    // The next refresh is written to the new primary, above the version that its writer had.
    const before = other.store.facts(1).version;
    await other.store.publish(1, 'price', publication(nowMs, { a: price('3', nowMs) }));
    await untilPrice(one.store, '3');
    const fresh = await startProcess(where);
    expect(fresh.store.facts(1).groups.price).toEqual(one.store.facts(1).groups.price);
    for (const { versions, prices } of observed) {
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
      expect([...prices].filter((shown) => !/^[23] 7 undefined$/.test(shown ?? ''))).toEqual([]);
    }
    expect(fresh.store.facts(1).version).toBeGreaterThan(before);
    admin.disconnect();
    await Promise.all([one, other, fresh].map((process) => process.close()));
    await Promise.all([line.stop(), first.close(), second.close()]);
  });

  test('behavior: facts of a later version of the service are read, and its own fields stay', async () => {
    const server = await launch([]);
    const settings = settingsOf(server.url, 'of-versions');
    const [one, other] = [await startProcess(settings), await startProcess(settings)];
    const admin = new Redis(server.url);
    const nowMs = Date.now();
    await one.store.publish(1, 'price', publication(nowMs, { a: price('1', nowMs) }, { b: 'timeout', c: 'throttled' }));
    await untilPrice(other.store, '1');
    const key = `of-versions:snapshot:${CODEC_VERSION}:1`;
    const later = String(await admin.hget(key, 'price'))
      .replace('"timeout"', '"sunspots"')
      .replace('"usd":{"$decimal":"1"}', '"usd":{"$decimal":"2"},"eur":{"$decimal":"1.9"}')
      .replace('"source":"coingecko"', '"source":"provider-of-tomorrow"')
      .replace(`"asOfMs":${nowMs}`, `"asOfMs":${nowMs + 1}`);
    await admin.hset(key, {
      price: later,
      'price#rev': 'of-tomorrow',
      tomorrow: '{"$date":1}',
      'tomorrow#rev': 'x',
      version: '9',
    });
    await admin.publish(`of-versions:snapshot:${CODEC_VERSION}:changes`, '1');
    for (const { store } of [one, other]) {
      const { groups, version } = await untilPrice(store, '2');
      expect(version).toBe(9);
      expect(groups.price.failures.get('b')).toMatchObject({ reason: 'server_error' });
      expect(groups.price.failures.get('c')).toMatchObject({ reason: 'throttled' });
    }
    // A write of this version keeps the fields that it does not know.
    await one.store.publish(1, 'price', publication(nowMs + 2, { d: price('5', nowMs + 2) }));
    const stored = await admin.hgetall(key);
    expect(stored.price).toContain('"eur":{"$decimal":"1.9"}');
    expect(stored.price).toContain('provider-of-tomorrow');
    expect(stored.tomorrow).toBe('{"$date":1}');
    admin.disconnect();
    await Promise.all([one, other].map((process) => process.close()));
    await server.close();
  });
});

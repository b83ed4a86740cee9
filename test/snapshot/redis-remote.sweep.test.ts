import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { FactGroup } from '../../src/domain/facts.ts';
import { type RedisConnection, untilAlive, untilReadable } from '../../src/redis/connection.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createRedisSnapshot } from '../../src/snapshot/redis.ts';
import { createRemoteFacts } from '../../src/snapshot/redis-remote.ts';
import { keepAll, price, publication } from './facts.ts';
import { connectionsTo, startRedis, type TestRedis, whyNoRedis } from './redis-server.ts';

const skipped = whyNoRedis();

describe.skipIf(skipped !== null)(skipped ?? 'the end of a process', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());

  /** A store with its connections. */
  function open(where: string) {
    const connections = connectionsTo(server.url, where);
    const connected: RedisConnection[] = [];
    const store = createRedisSnapshot({
      connections: {
        ...connections,
        connect(name, more) {
          const redis = connections.connect(name, more);
          connected.push(redis);
          return redis;
        },
      },
      chainIds: [1],
      clock: { now: () => 1_000 },
      logger: silentLogger,
      keep: () => keepAll,
    });
    return { store, connected };
  }

  describe('createRemoteFacts', () => {
    /** The shared facts of a place, with the notices that were sent. */
    async function remoteOf() {
      const where = randomUUID();
      const connections = connectionsTo(server.url, where);
      const [redis, listener] = [connections.connect('facts'), connections.connect('notices', { channel: where })];
      await Promise.all([untilReadable(redis, 5_000), untilAlive(listener, 5_000)]);
      const notices: string[] = [];
      listener.on('message', (_channel: string, chain: string) => notices.push(chain));
      const remote = createRemoteFacts({ redis, channel: where, keyOf: (chainId) => `${where}:${chainId}` });
      const put = (groups: Readonly<Record<string, readonly [expected: string, revision: string]>>, floor = 0) =>
        remote.write(1, {
          groups: Object.entries(groups).map(([group, [expected, revision]]) => ({
            group: group as FactGroup,
            expected,
            revision,
            payload: `${group} of ${revision}`,
          })),
          floor,
          publishedMs: 77,
        });
      return {
        where,
        redis,
        remote,
        put,
        notices,
        close: () => {
          redis.disconnect();
          listener.disconnect();
        },
      };
    }

    test('default: a write has all groups, one version and one notice; only the latest revision may be replaced', async () => {
      const { remote, put, notices, close } = await remoteOf();
      expect(await put({ price: ['', 'p1'], oracle: ['', 'o1'] })).toBe(true);
      expect(await put({ price: ['p1', 'p2'], oracle: ['another', 'o2'] })).toBe(false);
      expect(await remote.group(1, 'price')).toEqual({ revision: 'p1', payload: 'price of p1' });
      expect(await put({ price: ['p1', 'p2'] }, 41)).toBe(true);
      expect(await remote.group(1, 'price')).toEqual({ revision: 'p2', payload: 'price of p2' });
      expect(await remote.group(1, 'tvl')).toEqual({ revision: '', payload: null });
      expect((await remote.changedSince(1, new Map())).version).toBe(42);
      await vi.waitFor(() => expect(notices).toEqual(['1', '1']));
      close();
    });

    test('behavior: changes are the groups of another revision and those that are lost', async () => {
      const { where, redis, remote, put, close } = await remoteOf();
      await put({ price: ['', 'p1'], oracle: ['', 'o1'], tvl: ['', 't1'] });
      const known = new Map<FactGroup, string>([
        ['oracle', ''],
        ['price', 'p1'],
        ['tvl', 'before'],
        ['deployment', 'lost'],
        ['lendingState', ''],
      ]);
      expect(await remote.changedSince(1, known)).toEqual({
        version: 1,
        publishedMs: 77,
        groups: new Map([
          ['oracle', { revision: 'o1', payload: 'oracle of o1' }],
          ['tvl', { revision: 't1', payload: 'tvl of t1' }],
          ['deployment', { revision: '', payload: null }],
        ]),
        isOtherType: false,
      });
      expect(await remote.changedSince(4663, new Map())).toEqual({
        version: 0,
        publishedMs: 0,
        groups: new Map(),
        isOtherType: false,
      });
      await redis.hdel(`${where}:1`, 'tvl');
      expect((await remote.changedSince(1, known)).groups.get('tvl')).toEqual({ revision: 't1', payload: '' });
      close();
    });

    test('error: a failing command is thrown and noted by its chain, until it works again', async () => {
      const { where, redis, remote, put, close } = await remoteOf();
      await redis.set(`${where}:1`, 'no hash');
      await expect(remote.group(1, 'price')).rejects.toThrow();
      expect(redis.fault()).not.toBeNull();
      await put({ price: ['', 'p1'] });
      expect(redis.fault()).not.toBeNull();
      await remote.group(1, 'price');
      expect(redis.fault()).toBeNull();
      close();
    });

    test.each([
      ['text', (redis: Redis, key: string) => redis.set(key, 'no hash')],
      ['a list', (redis: Redis, key: string) => redis.rpush(key, 'price', 'p1')],
    ])(
      'behavior: %s in place of the facts is told, and replaced by a writer that knows no revision',
      async (_, take) => {
        const { where, redis, remote, put, close } = await remoteOf();
        await put({ price: ['', 'p1'] });
        await redis.del(`${where}:1`);
        await take(redis, `${where}:1`);
        const known = new Map<FactGroup, string>([['price', 'p1']]);
        expect(await remote.changedSince(1, known)).toMatchObject({ isOtherType: true, groups: new Map() });
        expect(await put({ price: ['p1', 'p2'] })).toBe(false);
        expect((await remote.changedSince(1, known)).isOtherType).toBe(true);
        expect(await put({ price: ['', 'p2'] })).toBe(true);
        expect(await remote.group(1, 'price')).toEqual({ revision: 'p2', payload: 'price of p2' });
        close();
      },
    );
  });

  test('behavior: a close waits for the publish under way and leaves no connection', async () => {
    const where = randomUUID();
    const { store, connected } = open(where);
    await store.restore();
    const published = store.publish(1, 'price', publication(10, { a: price('2', 10) }));
    await Promise.all([store.close(), published]);
    const next = open(where).store;
    await next.restore();
    expect(next.facts(1).groups.price.items.get('a')).toEqual(price('2', 10));
    await next.close();
    await vi.waitFor(() => expect(connected.map(({ status }) => status)).toEqual(['end', 'end']));
  });

  test('behavior: missing data in Redis is looked for every 5 s, by a timer that does not keep the process alive and ends with the store', async () => {
    const [every, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
    try {
      const { store } = open(randomUUID());
      const at = every.mock.calls.findIndex(([, ms]) => ms === 5_000);
      const timer = every.mock.results[at]?.value as NodeJS.Timeout;
      expect(timer.hasRef()).toBe(false);
      await store.close();
      expect(ended.mock.calls.map(([cleared]) => cleared)).toContain(timer);
    } finally {
      every.mockRestore();
      ended.mockRestore();
    }
  });
});

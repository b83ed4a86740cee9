import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChainFacts } from '../../src/domain/facts.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createRedisSnapshot } from '../../src/snapshot/redis.ts';
import type { SnapshotStore } from '../../src/snapshot/types.ts';
import { eventually } from '../support/process/spawn-service.ts';
import { startTcpProxy } from '../support/process/tcp-proxy.ts';
import { describeStore } from './conformance.ts';
import { keepAll, price, publication } from './facts.ts';
import {
  connectionsTo,
  NEVER_REACHED,
  settingsOf,
  startBrokenCluster,
  startRedis,
  type TestRedis,
  whyNoRedis,
} from './redis-server.ts';

const skipped = whyNoRedis();
/** The clock of the processes stands still, near that of Redis. */
const NOW_MS = Date.now();

/** Resolve with the first facts that satisfy `holds`: now, or when a change brings them. */
function until(store: SnapshotStore, holds: (facts: ChainFacts) => boolean): Promise<ChainFacts> {
  return new Promise((resolve) => {
    const look = (facts: ChainFacts): void => {
      if (!holds(facts)) return;
      leave();
      resolve(facts);
    };
    const leave = store.subscribe(look);
    look(store.facts(1));
  });
}

/** Wait for an event of a connection, errors before it or not. */
const event = (redis: Redis, name: 'ready' | 'close') =>
  new Promise<void>((resolve) => redis.once(name, () => resolve()));

/** Ask until it holds. */
const tried = (holds: () => boolean) => eventually(holds, Boolean);

/** A connection beside the service's own. */
class Admin {
  readonly redis: Redis;
  constructor(url: string) {
    this.redis = new Redis(url);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.redis.disconnect();
  }
}

describe.skipIf(skipped !== null)(skipped ?? 'with Redis', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());

  const opened = async (where: string, nowMs?: number): Promise<SnapshotStore> => {
    const store = open(where, nowMs);
    await store.restore();
    return store;
  };
  const open = (where: string, nowMs = NOW_MS): SnapshotStore =>
    createRedisSnapshot({
      connections: connectionsTo(server.url, where),
      chainIds: [1, 4663],
      clock: { now: () => nowMs },
      logger: silentLogger,
      keep: () => keepAll,
      healEveryMs: 20,
    });
  const has = (key: string, usd: string) => (facts: ChainFacts) =>
    facts.groups.price.items.get(key)?.value.usd.toFixed() === usd;

  let conformance = '';
  describe('conformance', () => {
    describeStore('redis', {
      persists: true,
      create: async () => {
        const name = expect.getState().currentTestName ?? '';
        if (!conformance.endsWith(name)) conformance = `${randomUUID()}:${name}`;
        return open(conformance);
      },
    });
  });

  describe('createRedisSnapshot', () => {
    test('behavior: another process follows every change by group, with equal versions', async () => {
      const where = randomUUID();
      const [writer, reader] = [await opened(where), await opened(where)];
      await writer.publish(1, 'price', publication(10, { a: price('2', 10) }));
      const first = await until(reader, has('a', '2'));
      expect(first.version).toBe(1);
      await writer.publish(1, 'price', publication(20, { a: price('3', 20) }));
      expect((await until(reader, has('a', '3'))).version).toBe(2);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('behavior: another process never sees only a part of a joint publish', async () => {
      const where = randomUUID();
      const [writer, reader] = [await opened(where), await opened(where)];
      const torn: number[] = [];
      reader.subscribe(({ groups, version }) => {
        const [usd, apy] = [groups.price.items.get('a')?.asOfMs, groups.collateralApy.items.get('a')?.asOfMs];
        if (usd !== apy) torn.push(version);
      });
      for (let at = 1; at <= 20; at++) {
        const apy = { value: { apyPct: new Decimal(at) }, asOfMs: at, source: 'aggregator' };
        await writer.publishAll(1, {
          price: publication(at, { a: price('2', at) }),
          collateralApy: publication(at, { a: apy }),
        });
      }
      expect((await until(reader, ({ version }) => version === 20)).groups.price.items.get('a')?.asOfMs).toBe(20);
      expect(torn).toEqual([]);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('behavior: two writers of one group lose no data', async () => {
      const where = randomUUID();
      const stores = [await opened(where), await opened(where)];
      const keys = Array.from({ length: 10 }, (_, i) => `k${i}`);
      await Promise.all(
        keys.map((key, i) => stores[i % 2]?.publish(1, 'price', publication(10, { [key]: price('1', 10) }))),
      );
      for (const store of stores) {
        const facts = await until(store, (candidate) => candidate.groups.price.items.size === keys.length);
        expect([...facts.groups.price.items.keys()].sort()).toEqual(keys);
      }
      await Promise.all(stores.map((store) => store.close()));
    });

    test.skipIf(process.env.TEST_REDIS_URL)('behavior: refills an empty Redis and continues the versions', async () => {
      const where = randomUUID();
      const [writer, reader] = [await opened(where), await opened(where)];
      await writer.publish(1, 'price', publication(10, { a: price('2', 10) }));
      await until(reader, has('a', '2'));

      await server.stop?.();
      const alone = await writer.publish(1, 'price', publication(20, { a: price('3', 20) }));
      expect(alone.groups.price.items.get('a')).toEqual(price('3', 20));
      expect(writer.place()).toMatchObject({ kind: 'redis', ok: false });
      expect(writer.facts(1)).toBe(alone);
      expect(reader.facts(1).groups.price.items.get('a')).toEqual(price('2', 10));

      await server.start?.();
      const caughtUp = await until(reader, has('a', '3'));
      expect(caughtUp.version).toBeGreaterThan(1);
      const fresh = await opened(where);
      expect(has('a', '3')(await until(fresh, has('a', '3')))).toBe(true);
      await Promise.all([writer.close(), reader.close(), fresh.close()]);
    });

    test('behavior: the next writer restores flushed data', async () => {
      const where = randomUUID();
      const writer = await opened(where);
      const apy = { value: { apyPct: new Decimal(4) }, asOfMs: 10, source: 'aggregator' };
      await writer.publish(1, 'collateralApy', publication(10, { a: apy }));
      await writer.publish(1, 'price', publication(10, { a: price('2', 10) }));
      await using admin = new Admin(server.url);
      await admin.redis.flushall();
      await writer.publish(1, 'price', publication(20, { a: price('3', 20) }));
      expect(writer.place().ok).toBe(true);
      const fresh = await opened(where);
      expect(fresh.facts(1).groups.collateralApy).toEqual(writer.facts(1).groups.collateralApy);
      expect(fresh.facts(1).groups.price.items.get('a')).toEqual(price('3', 20));
      await Promise.all([writer.close(), fresh.close()]);
    });

    test.each([
      ['damaged', (redis: Redis, key: string) => redis.hset(key, 'price', 'damaged', 'price#rev', 'theirs')],
      ['other_type', (redis: Redis, key: string) => redis.del(key).then(() => redis.set(key, 'no hash'))],
    ] as const)(
      'behavior: facts that cannot be read (%s) are named by a new process, and restored by one that has them',
      async (reason, damage) => {
        const where = randomUUID();
        const writer = await opened(where);
        await writer.publish(1, 'price', publication(10, { a: price('2', 10) }));
        await using admin = new Admin(server.url);
        const [key = ''] = (await admin.redis.keys(`*${where}*:1`)).filter((name) => name.includes('snapshot'));
        await writer.close();
        await damage(admin.redis, key);
        const stranger = await opened(where);
        expect(stranger.facts(1).groups.price.items.size).toBe(0);
        expect(stranger.place()).toMatchObject({ ok: false });
        expect(stranger.place().unreadable).toContainEqual({ chainId: 1, group: 'price', reason });
        await stranger.publish(1, 'price', publication(20, { b: price('3', 20) }));
        expect([stranger.place().ok, stranger.place().unreadable]).toEqual([true, undefined]);
        const fresh = await opened(where);
        expect([...fresh.facts(1).groups.price.items.keys()]).toEqual(['b']);
        await damage(admin.redis, key);
        const stored = () => admin.redis.hget(key, 'price').catch(() => null);
        await eventually(stored, (text) => text?.includes('"b"') === true);
        await tried(() => fresh.place().ok);
        await Promise.all([stranger.close(), fresh.close()]);
      },
    );

    test('behavior: a reader restores flushed data without a writer', async () => {
      const where = randomUUID();
      const writer = await opened(where);
      await writer.publish(1, 'price', publication(10, { a: price('2', 10) }));
      const reader = await opened(where);
      await writer.close();
      await using admin = new Admin(server.url);
      await admin.redis.flushall();
      const fresh = await opened(where);
      expect((await until(fresh, has('a', '2'))).groups.price.items.size).toBe(1);
      await Promise.all([reader.close(), fresh.close()]);
    });

    test('behavior: updates a Redis with an older state, without setting processes back', async () => {
      const where = randomUUID();
      const [writer, reader] = [await opened(where), await opened(where)];
      await writer.publish(1, 'price', publication(10, { a: price('2', 10), b: price('7', 10) }));
      await using admin = new Admin(server.url);
      const [key = ''] = await admin.redis.keys(`${where}:snapshot:*`);
      const older = await admin.redis.hgetall(key);
      await writer.publish(1, 'price', publication(20, { a: price('3', 20) }));
      await until(reader, has('a', '3'));
      await admin.redis.hset(key, older);
      const fresh = await opened(where);
      const healed = await until(fresh, has('a', '3'));
      expect(healed.groups.price.items.get('b')).toEqual(price('7', 10));
      for (const store of [writer, reader]) expect(has('a', '3')(store.facts(1))).toBe(true);
      await Promise.all([writer.close(), reader.close(), fresh.close()]);
    });

    test('behavior: ignores facts of a process with a clock ahead', async () => {
      const where = randomUUID();
      const AHEAD_MS = 3_600_000;
      const aheadMs = NOW_MS + AHEAD_MS;
      const ahead = await opened(where, aheadMs);
      await ahead.publish(1, 'price', publication(aheadMs, { a: price('9', aheadMs), b: price('9', aheadMs) }));
      const reader = await opened(where);
      expect(reader.facts(1).groups.price.items.size).toBe(0);
      expect(reader.facts(1).publishedMs).toBe(NOW_MS);
      const writer = await opened(where);
      await writer.publish(1, 'price', publication(40_000, { a: price('2', 40_000) }));
      expect([...(await until(reader, has('a', '2'))).groups.price.items.keys()]).toEqual(['a']);
      for (const store of [reader, writer]) expect(store.facts(1).publishedMs).toBe(NOW_MS);
      // It reads on, and does not put its own facts in the place of theirs again and again.
      await using admin = new Admin(server.url);
      const [key = ''] = await admin.redis.keys(`${where}:snapshot:*:1`);
      const reads = async () =>
        Number(/^cmdstat_eval:calls=(\d+)/m.exec(await admin.redis.info('commandstats'))?.[1] ?? 0);
      const [version, before] = [await admin.redis.hget(key, 'version'), await reads()];
      while ((await reads()) < before + 60);
      expect(await admin.redis.hget(key, 'version')).toBe(version);
      expect([ahead.place().ok, reader.place().ok]).toEqual([false, true]);
      // Its publication displaces the others' facts until one of these puts them back.
      await ahead.publish(1, 'price', publication(aheadMs, { a: price('8', aheadMs + 1) }));
      const fresh = await opened(where);
      await until(fresh, has('a', '2'));
      await fresh.close();
      await Promise.all([ahead.close(), reader.close(), writer.close()]);
    });

    test('behavior: keeps facts while a cluster is down, and writes them when it is up', async () => {
      const cluster = await startBrokenCluster();
      const proxy = await startTcpProxy(Number(new URL(server.url).port));
      const where = randomUUID();
      const through = async () => {
        const store = createRedisSnapshot({
          connections: connectionsTo(`redis://127.0.0.1:${proxy.port}`, where),
          chainIds: [1],
          clock: { now: () => NOW_MS },
          logger: silentLogger,
          keep: () => keepAll,
          restoreWaitMs: 5_000,
          healEveryMs: 20,
        });
        await store.restore();
        return store;
      };
      const [writer, reader] = [await through(), await through()];
      await writer.publish(1, 'price', publication(10, { a: price('2', 10) }));
      await until(reader, has('a', '2'));
      expect([writer.place().ok, reader.place().ok]).toEqual([true, true]);

      proxy.lead(Number(new URL(cluster.url).port));
      await tried(() => !writer.place().ok && !reader.place().ok);
      // Connected again, as a PING would show.
      const admin = new Redis(`redis://127.0.0.1:${proxy.port}`);
      expect(await admin.ping()).toBe('PONG');
      await expect(admin.get(where)).rejects.toThrow('CLUSTERDOWN');
      admin.disconnect();
      const remaining = await writer.publish(1, 'price', publication(20, { a: price('3', 20) }));
      expect(has('a', '3')(remaining)).toBe(true);
      expect([has('a', '2')(reader.facts(1)), writer.place().ok, reader.place().ok]).toEqual([true, false, false]);

      proxy.lead();
      await until(reader, has('a', '3'));
      await tried(() => writer.place().ok && reader.place().ok);
      await Promise.all([writer.close(), reader.close(), proxy.stop(), cluster.close()]);
    });

    test('behavior: reports the clock difference to Redis', async () => {
      const where = randomUUID();
      const store = open(where, Date.now() + 3_600_000);
      await store.restore();
      await tried(() => store.place().clockSkewMs !== undefined);
      const { clockSkewMs = 0 } = store.place();
      expect(Math.abs(clockSkewMs - 3_600_000)).toBeLessThan(60_000);
      await store.close();
    });

    test('behavior: starts, serves and updates facts without Redis', async () => {
      const store = createRedisSnapshot({
        connections: connectionsTo(NEVER_REACHED),
        chainIds: [1],
        clock: { now: () => 1 },
        logger: silentLogger,
        keep: () => keepAll,
        restoreWaitMs: 100,
      });
      await store.restore();
      await store.publish(1, 'price', publication(10, { a: price('2', 10) }));
      expect(store.facts(1).version).toBe(1);
      await store.close();
    });
  });

  describe('connectRedis', () => {
    test('behavior: a Redis that answers PING and refuses every key is not alive', async () => {
      const cluster = await startBrokenCluster();
      const redis = connectRedis({ settings: settingsOf(cluster.url), logger: silentLogger, name: 'test' });
      await event(redis, 'ready');
      // Answers are in order, so the requests at the connection are answered as well.
      expect(await redis.ping()).toBe('PONG');
      await expect(redis.get('any')).rejects.toThrow('CLUSTERDOWN');
      expect(redis.isAlive()).toBe(false);
      redis.disconnect();
      await cluster.close();
    });

    test.each(['a connection that asks', 'a connection that listens'])(
      'behavior: %s notices its failure and reconnects',
      async (which) => {
        const proxy = await startTcpProxy(Number(new URL(server.url).port));
        const redis = connectRedis({
          settings: settingsOf(`redis://127.0.0.1:${proxy.port}`),
          logger: silentLogger,
          name: 'test',
          channel: which.endsWith('listens') ? 'anything' : undefined,
          times: { commandMs: 100, socketMs: 150, probeMs: 20 },
        });
        await event(redis, 'ready');
        await tried(() => redis.isAlive());
        proxy.set({ kind: 'swallow' });
        await event(redis, 'close');
        expect(redis.isAlive()).toBe(false);
        proxy.set({ kind: 'pass' });
        await event(redis, 'ready');
        await tried(() => redis.isAlive());
        redis.disconnect();
        await proxy.stop();
      },
    );
  });
});

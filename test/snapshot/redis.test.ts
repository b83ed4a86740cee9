import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChainFacts } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createMemoryLease, createRedisLease, type LeasePort } from '../../src/snapshot/lease.ts';
import { createRedisSnapshot } from '../../src/snapshot/redis.ts';
import type { SnapshotStore } from '../../src/snapshot/types.ts';
import { describeStore } from './conformance.ts';
import { keepAll, price, publication } from './facts.ts';
import { startRedis, type TestRedis, whyNoRedis } from './redis-server.ts';

const skipped = whyNoRedis();
const NEVER_REACHED = 'redis://127.0.0.1:1';

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

describe.skipIf(skipped !== null)(skipped ?? 'with Redis', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());

  const open = (where: string): SnapshotStore =>
    createRedisSnapshot({
      url: server.url,
      prefix: where,
      chainIds: [1, 4663],
      clock: { now: () => 50_000 },
      logger: silentLogger,
      keep: () => keepAll,
    });
  const opened = async (where: string): Promise<SnapshotStore> => {
    const store = open(where);
    await store.restore();
    return store;
  };
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
    test('behavior: another process follows every change, group by group, and versions agree', async () => {
      const where = randomUUID();
      const [writer, reader] = [await opened(where), await opened(where)];
      await writer.publish(1, 'price', publication(10, { a: price('2', 10) }));
      const first = await until(reader, has('a', '2'));
      expect(first.version).toBe(1);
      await writer.publish(1, 'price', publication(20, { a: price('3', 20) }));
      expect((await until(reader, has('a', '3'))).version).toBe(2);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('behavior: another process never sees one group of a moment without the others', async () => {
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

    test('behavior: two writers of one group lose nothing of each other', async () => {
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

    test.skipIf(process.env.TEST_REDIS_URL)(
      'behavior: a Redis that lost everything is filled again, and versions go on',
      async () => {
        const where = randomUUID();
        const [writer, reader] = [await opened(where), await opened(where)];
        await writer.publish(1, 'price', publication(10, { a: price('2', 10) }));
        await until(reader, has('a', '2'));

        await server.stop?.();
        const alone = await writer.publish(1, 'price', publication(20, { a: price('3', 20) }));
        expect(alone.groups.price.items.get('a')).toEqual(price('3', 20));
        expect(writer.place()).toEqual({ kind: 'redis', ok: false });
        expect(writer.facts(1)).toBe(alone);
        expect(reader.facts(1).groups.price.items.get('a')).toEqual(price('2', 10));

        await server.start?.();
        const caughtUp = await until(reader, has('a', '3'));
        expect(caughtUp.version).toBeGreaterThan(1);
        const fresh = await opened(where);
        expect(has('a', '3')(await until(fresh, has('a', '3')))).toBe(true);
        await Promise.all([writer.close(), reader.close(), fresh.close()]);
      },
    );

    test('behavior: without Redis it starts, serves and extends what it has', async () => {
      const store = createRedisSnapshot({
        url: NEVER_REACHED,
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

  describe('createRedisLease', () => {
    const lease = (where: string, ttlMs?: number): LeasePort =>
      createRedisLease({
        url: server.url,
        logger: silentLogger,
        prefix: where,
        ...(ttlMs === undefined ? {} : { ttlMs }),
      });
    /** Ask until the holder's time is over. */
    const acquired = async (port: LeasePort, job: string) => {
      for (;;) {
        const { lease: held } = await port.acquire(job);
        if (held) return held;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };

    test('behavior: asked before the connection stands, it is granted all the same', async () => {
      const port = lease(randomUUID());
      expect((await port.acquire('job')).lease).not.toBeNull();
      await port.close();
    });

    test('behavior: one holder at a time; released, the other gets it', async () => {
      const where = randomUUID();
      const [a, b] = [lease(where), lease(where)];
      const held = await acquired(a, 'job');
      const refused = await b.acquire('job');
      expect(refused.lease).toBeNull();
      expect(refused.freeInMs).toBeGreaterThan(0);
      expect(refused.freeInMs).toBeLessThanOrEqual(b.ttlMs);
      expect(await held.renew()).toBe(true);
      await held.release();
      const next = await b.acquire('job');
      expect(next.lease).not.toBeNull();
      expect(await held.renew()).toBe(false);
      await held.release();
      expect((await a.acquire('job')).lease).toBeNull();
      await Promise.all([a.close(), b.close()]);
    });

    test('behavior: a holder that died is replaced when its time is over', async () => {
      const where = randomUUID();
      const [dead, next] = [lease(where, 50), lease(where)];
      await acquired(dead, 'job');
      await dead.close();
      expect(await (await acquired(next, 'job')).renew()).toBe(true);
      await next.close();
    });
  });
});

describe('createMemoryLease', () => {
  test('default', async () => {
    const port = createMemoryLease();
    const { lease: held } = await port.acquire('job');
    expect(await held?.renew()).toBe(true);
    await held?.release();
  });
});

test('error: without Redis no lease is granted', async () => {
  const port = createRedisLease({ url: NEVER_REACHED, logger: silentLogger });
  expect(await port.acquire('job')).toEqual({ lease: null, freeInMs: null });
  await port.close();
});

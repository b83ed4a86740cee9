import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/shared/clock.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { createMemoryLease, createRedisLease, type LeasePort } from '../../src/snapshot/lease.ts';
import { rememberingLogger } from './logs.ts';
import { connectionsTo, NEVER_REACHED, startRedis, type TestRedis, whyNoRedis } from './redis-server.ts';

const skipped = whyNoRedis();

describe.skipIf(skipped !== null)(skipped ?? 'createRedisLease', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());

  const lease = (where: string, ttlMs?: number, clock: Clock = systemClock, logger: Logger = silentLogger): LeasePort =>
    createRedisLease({
      connections: connectionsTo(server.url, where, logger),
      clock,
      logger,
      ttlMs,
    });
  /** Try until the holder's lease is over. */
  const acquired = async (port: LeasePort, job: string) => {
    for (;;) {
      const { lease: held } = await port.acquire(job);
      if (held) return held;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  test('behavior: grants a lease requested before the connection is ready', async () => {
    const port = lease(randomUUID());
    expect((await port.acquire('job')).lease).not.toBeNull();
    await port.close();
  });

  test('behavior: one holder at a time; the other gets it after the release', async () => {
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

  test.each([
    ['ahead', 180_000],
    ['behind', -180_000],
  ])(
    'behavior: a holder whose clock is three minutes %s releases it, and takes none until the clock agrees',
    async (_, offMs) => {
      const where = randomUUID();
      let skewMs = 0;
      const logger = rememberingLogger();
      const off = lease(where, undefined, { now: () => Date.now() + skewMs }, logger);
      const other = lease(where);
      const held = await acquired(off, 'job');
      skewMs = offMs;
      expect(await held.renew()).toBe(false);
      expect(off.isClockOff()).toBe(true);
      expect(await off.acquire('another job')).toEqual({ lease: null, freeInMs: null });
      // Given back, not run out: the other has it at once.
      const { lease: next } = await other.acquire('job');
      expect([next === null, other.isClockOff()]).toEqual([false, false]);
      skewMs = 60_000;
      expect((await off.acquire('another job')).lease).not.toBeNull();
      expect((await off.acquire('job')).freeInMs).toBeGreaterThan(0);
      expect(off.isClockOff()).toBe(false);
      expect(logger.messages.filter((message) => message.startsWith('clock'))).toEqual([
        'clock is off: the jobs are left to other processes',
        'clock agrees again: jobs are taken',
      ]);
      await Promise.all([off.close(), other.close()]);
    },
  );

  test('behavior: replaces a dead holder when its lease ends', async () => {
    const where = randomUUID();
    const [dead, next] = [lease(where, 50), lease(where)];
    await acquired(dead, 'job');
    await dead.close();
    expect(await (await acquired(next, 'job')).renew()).toBe(true);
    await next.close();
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

test('error: grants no lease without Redis', async () => {
  const port = createRedisLease({
    connections: connectionsTo(NEVER_REACHED),
    clock: systemClock,
    logger: silentLogger,
  });
  expect(await port.acquire('job')).toEqual({ lease: null, freeInMs: null });
  await port.close();
});

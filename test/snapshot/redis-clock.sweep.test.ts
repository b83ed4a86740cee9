import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { RedisConnections } from '../../src/redis/connections.ts';
import type { Logger } from '../../src/shared/logger.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createMemoryLease, createRedisLease, LEASE_TTL_MS } from '../../src/snapshot/lease.ts';
import { createClockSkew } from '../../src/snapshot/redis-clock.ts';
import { rememberingLogger } from './logs.ts';

const TWO_MINUTES_MS = 120_000;
/** The clock of Redis, ms. */
const REDIS_MS = 1_780_000_000_250;

describe('createClockSkew', () => {
  /** Measure with clocks that show these times when the question is sent and when its answer comes. */
  async function measured(
    shown: readonly (readonly [sentMs: number, answeredMs: number])[],
    logger: Logger = silentLogger,
  ) {
    const times = shown.flat();
    const skew = createClockSkew({
      redis: { time: async () => [1_780_000_000, 250_000] as [number, number] },
      clock: { now: () => times.shift() ?? 0 },
      logger,
    });
    for (const _ of shown) await skew.measure();
    return skew;
  }
  const ahead = (ms: number) => [REDIS_MS + ms, REDIS_MS + ms] as const;

  test('default: unknown before a measurement, and not off', async () => {
    const skew = await measured([]);
    expect([skew.ms(), skew.isOff()]).toEqual([undefined, false]);
  });

  test.each([
    ['agrees', ahead(0), 0, false],
    ['is ahead by two minutes', ahead(TWO_MINUTES_MS), TWO_MINUTES_MS, false],
    ['is ahead by more', ahead(TWO_MINUTES_MS + 1), TWO_MINUTES_MS + 1, true],
    ['is behind by two minutes', ahead(-TWO_MINUTES_MS), -TWO_MINUTES_MS, false],
    ['is behind by more', ahead(-TWO_MINUTES_MS - 1), -TWO_MINUTES_MS - 1, true],
  ])('behavior: a clock that %s', async (_, times, ms, isOff) => {
    const skew = await measured([times]);
    expect([skew.ms(), skew.isOff()]).toEqual([ms, isOff]);
  });

  test('behavior: Redis answers in the middle between question and answer, and a slow answer does not count', async () => {
    expect((await measured([[REDIS_MS, REDIS_MS + 1_000]])).ms()).toBe(500);
    expect((await measured([[REDIS_MS, REDIS_MS + 1_001]])).ms()).toBeUndefined();
    expect((await measured([ahead(7), [REDIS_MS, REDIS_MS + 5_000]])).ms()).toBe(7);
  });

  test('behavior: logs once that the clock is off, and once that it agrees again', async () => {
    const logger = rememberingLogger();
    const off = ahead(TWO_MINUTES_MS + 1);
    await measured([ahead(0), off, off, ahead(0), ahead(1), off], logger);
    expect(logger.messages).toEqual([
      'clock is off from the one of Redis',
      'clock agrees with the one of Redis again',
      'clock is off from the one of Redis',
    ]);
    const late = rememberingLogger();
    await measured([off], late);
    expect(late.messages).toEqual(['clock is off from the one of Redis']);
  });
});

describe('createRedisLease', () => {
  /** A lease over a Redis that answers these scripts; an error is thrown. */
  function leaseOf(answers: (readonly (number | string)[] | Error)[], logger = rememberingLogger()) {
    const evaluated: (readonly unknown[])[] = [];
    const noted: string[] = [];
    const redis = Object.assign(new EventEmitter(), {
      eval: async (...args: readonly unknown[]) => {
        evaluated.push(args.slice(1));
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return answer;
      },
      note: (use: string, error: unknown) => noted.push(`${use} ${error === null ? 'works' : 'fails'}`),
      disconnect: () => noted.push('disconnected'),
    });
    const connections = { prefix: 'spiral', connect: () => redis } as unknown as RedisConnections;
    const port = createRedisLease({ connections, clock: { now: () => 5 }, logger });
    redis.emit('ready');
    return { port, evaluated, noted, logger };
  }

  test('default: is granted for 13.5 s, renewed and released with its own token', async () => {
    const { port, evaluated, noted } = leaseOf([
      [0, -1],
      [0, 1],
      [0, 0],
    ]);
    expect([port.ttlMs, LEASE_TTL_MS, createMemoryLease().ttlMs]).toEqual([13_500, 13_500, 60_000]);
    const { lease, freeInMs } = await port.acquire('prices');
    expect([lease === null, freeInMs]).toEqual([false, null]);
    expect([await lease?.renew(), await lease?.renew()]).toEqual([true, false]);
    await lease?.release();
    const [[, key, token] = []] = evaluated;
    expect(key).toBe('spiral:lease:prices');
    expect(evaluated).toEqual([
      [1, key, token, 5, 13_500],
      [1, key, token, 5, 13_500],
      [1, key, token, 5, 13_500],
      [1, key, token],
    ]);
    expect(noted).toEqual(['leases works', 'leases works', 'leases works']);
    await port.close();
    expect(noted.at(-1)).toBe('disconnected');
  });

  test.each([
    ['another process holds it', [0, 700], 700],
    ['it is about to be free', [0, 0], 0],
    ['our clock is off', [TWO_MINUTES_MS + 1, -2], null],
  ])('behavior: none is granted while %s', async (_, answer, freeInMs) => {
    const { port } = leaseOf([answer]);
    expect(await port.acquire('prices')).toEqual({ lease: null, freeInMs });
  });

  test('error: none without an answer of Redis, which is noted; a release never fails', async () => {
    const { port, noted } = leaseOf([new Error('gone'), [0, -1], new Error('gone'), new Error('gone')]);
    expect(await port.acquire('prices')).toEqual({ lease: null, freeInMs: null });
    const { lease } = await port.acquire('prices');
    await expect(lease?.renew()).rejects.toThrow('gone');
    await expect(lease?.release()).resolves.toBeUndefined();
    expect(noted).toEqual(['leases fails', 'leases works', 'leases fails']);
  });

  test('behavior: two minutes are still agreement, in both directions; a change is logged once', async () => {
    const skews = [TWO_MINUTES_MS, TWO_MINUTES_MS + 1, TWO_MINUTES_MS + 2, -TWO_MINUTES_MS, -TWO_MINUTES_MS - 1];
    const { port, logger } = leaseOf(skews.map((skew) => [skew, -2]));
    expect(port.isClockOff()).toBe(false);
    const off: boolean[] = [];
    for (const _ of skews) {
      await port.acquire('prices');
      off.push(port.isClockOff());
    }
    expect(off).toEqual([false, true, true, false, true]);
    expect(logger.messages).toEqual([
      'clock is off: the jobs are left to other processes',
      'clock agrees again: jobs are taken',
      'clock is off: the jobs are left to other processes',
    ]);
  });
});

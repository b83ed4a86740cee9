import { RateLimiterRes } from 'rate-limiter-flexible';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Budgets, createBudgets, RateLimitedError } from '../../src/limits/budgets.ts';
import { createMemoryCounters } from '../../src/limits/counters.ts';
import { createMemoryLimiters, createRedisLimiters, type Limiters } from '../../src/limits/limiters.ts';
import { openRequestContext } from '../../src/limits/request-context.ts';
import { createLimits } from '../../src/limits/tier-limits.ts';
import {
  connectRedis,
  onceAlive,
  type RedisConnection,
  type RedisTimes,
  untilAlive,
} from '../../src/redis/connection.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { settingsOf, startRedis, type TestRedis, whyNoRedis } from '../snapshot/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/process/tcp-proxy.ts';

const LIMIT = 100;
const limits = createLimits({ anonymous: LIMIT, partner: LIMIT, ops: 0 });
const clock = { now: () => Date.now() };
const ADDRESS = '192.0.2.1';
const requestContextOf = () => openRequestContext({ correlationId: 'c', authorization: undefined, clientIp: ADDRESS });
const reason = whyNoRedis();

describe.skipIf(reason !== null)(`createRedisLimiters${reason === null ? '' : ` (${reason})`}`, () => {
  interface Process {
    readonly redis: RedisConnection;
    readonly limiters: Limiters;
    readonly budgets: Budgets;
    insured: number;
  }
  let server: TestRedis;
  let proxy: TcpProxy;
  let processes: Process[] = [];
  const start = async (url = server.url, times: Partial<RedisTimes> = {}): Promise<Process> => {
    const redis = connectRedis({ settings: settingsOf(url), logger: silentLogger, name: 'rate-limits', times });
    await untilAlive(redis, 5_000);
    const limiters = createRedisLimiters({
      limits,
      clock,
      redis,
      prefix: 'spiral',
      onceAlive: (resume) => onceAlive(redis, resume),
      onInsured: () => {
        process.insured += 1;
      },
    });
    const budgets = createBudgets({ limits, limiters, clock, logger: silentLogger });
    const process: Process = { redis, limiters, budgets, insured: 0 };
    processes.push(process);
    return process;
  };
  const countedInRedis = async ({ redis }: Process): Promise<number> =>
    Number(/^cmdstat_incrby:calls=(\d+)/m.exec(await redis.info('commandstats'))?.[1] ?? 0);
  /** Charge the address. @returns the rest of its budget; `undefined` = refused */
  const remaining = async ({ budgets }: Process, points = 1): Promise<number | undefined> => {
    const requestContext = requestContextOf();
    try {
      await budgets.charge(requestContext, points, 'open');
    } catch (error) {
      if (error instanceof RateLimitedError) return undefined;
      throw error;
    }
    return requestContext.rateLimit?.remaining;
  };

  beforeAll(async () => {
    server = await startRedis();
    proxy = await startTcpProxy(Number(new URL(server.url).port));
  });
  beforeEach(async () => {
    for (const { redis } of processes) redis.disconnect();
    processes = [];
    await server.flush();
  });
  afterAll(async () => {
    for (const { redis } of processes) redis.disconnect();
    await proxy?.stop();
    await server?.close();
  });

  test('default: processes share exactly one budget', async () => {
    const [one, two] = [await start(), await start()];
    expect([await remaining(one), await remaining(two), await remaining(one)]).toEqual([99, 98, 97]);
    const granted = await Promise.all(Array.from({ length: 3 * LIMIT }, (_, i) => remaining(i % 2 ? one : two)));
    expect(granted.filter((status) => status !== undefined)).toHaveLength(LIMIT - 3);
    expect([one.insured, two.insured]).toEqual([0, 0]);
  });

  test('behavior: a refused request does not reach Redis, and has the end of the window', async () => {
    const one = await start();
    expect(await remaining(one, LIMIT)).toBe(0);
    const before = await countedInRedis(one);
    for (let i = 0; i < 50; i++) {
      const requestContext = requestContextOf();
      await expect(one.budgets.charge(requestContext, 1, 'open')).rejects.toMatchObject({ code: 'rate_limited' });
      expect(requestContext.rateLimit?.resetSec).toBeGreaterThan(50);
    }
    expect(await countedInRedis(one)).toBe(before);
    expect(one.budgets.exhausted({ clientIp: ADDRESS })).toMatchObject({ remaining: 0, policy: 'anonymous' });
  });

  test('behavior: a refund lifts the refusal at once in the process', async () => {
    const one = await start();
    expect(await remaining(one, LIMIT)).toBe(0);
    expect(await remaining(one)).toBeUndefined();
    await one.budgets.refund(requestContextOf(), 50);
    expect(one.budgets.exhausted({ clientIp: ADDRESS })).toBeUndefined();
    expect(await remaining(one)).toBe(49);
  });

  test('behavior: a clock that is set back does not prolong a block: asks Redis again', async () => {
    const one = await start();
    await remaining(one, LIMIT);
    const hourAgoMs = Date.now() - 3_600_000;
    const setBack = vi.spyOn(Date, 'now').mockImplementation(() => hourAgoMs);
    try {
      const requestContext = requestContextOf();
      await expect(one.budgets.charge(requestContext, 1, 'open')).rejects.toMatchObject({ code: 'rate_limited' });
      expect(requestContext.rateLimit?.resetSec).toBeLessThanOrEqual(60);
      await server.flush();
      await one.budgets.charge(requestContext, 1, 'open');
      expect(requestContext.rateLimit).toMatchObject({ remaining: LIMIT - 1 });
    } finally {
      setBack.mockRestore();
    }
  });

  test('behavior: points returned after the end of their window do not affect the next one', async () => {
    const [one, two] = [await start(), await start()];
    await remaining(one, 60);
    await server.flush();
    await Promise.all([one.budgets.refund(requestContextOf(), 29), one.budgets.refund(requestContextOf(), 30)]);
    expect(await remaining(two)).toBe(LIMIT - 1);
  });

  test('behavior: a hanging Redis costs one wait; then the process counts until Redis answers again', async () => {
    const one = await start(`redis://127.0.0.1:${proxy.port}`, { commandMs: 1_000, probeMs: 100 });
    expect(await remaining(one)).toBe(99);
    const shared = one.limiters.of('anonymous', 'open');
    proxy.set({ kind: 'swallow' });
    const closed = expect(one.limiters.of('partner', 'closed').consume('key', 1)).rejects;
    await Promise.all([closed.not.toBeInstanceOf(RateLimiterRes), expect(remaining(one)).resolves.toBe(99)]);
    expect(one.limiters.of('anonymous', 'open')).not.toBe(shared);
    const granted = await Promise.all(Array.from({ length: LIMIT }, () => remaining(one)));
    expect(granted.filter((status) => status !== undefined)).toHaveLength(LIMIT - 1);
    expect(one.insured).toBe(1 + LIMIT);
    proxy.set({ kind: 'pass' });
    proxy.lead();
    await new Promise<void>((resolve) => onceAlive(one.redis, resolve));
    expect(one.limiters.of('anonymous', 'open')).toBe(shared);
    await one.budgets.refund(requestContextOf(), 1);
    expect(await remaining(one)).toBe(99);
  });
});

describe('createMemoryLimiters', () => {
  test('behavior: a clock that is set back starts a new window', async () => {
    let nowMs = 10_000_000;
    const here = { now: () => nowMs };
    const limiter = createMemoryLimiters({ limits, clock: here }).of('anonymous', 'open');
    await limiter.consume(ADDRESS, LIMIT);
    await expect(limiter.consume(ADDRESS, 1)).rejects.toBeInstanceOf(RateLimiterRes);
    nowMs -= 3_600_000;
    expect(await limiter.consume(ADDRESS, 1)).toMatchObject({ remainingPoints: LIMIT - 1, msBeforeNext: 60_000 });
    const counters = createMemoryCounters({ windowSec: 60, max: 10 }, here);
    counters.add('a', 5);
    nowMs -= 1;
    expect(counters.add('a', 1)).toEqual({ used: 1, msLeft: 60_000 });
  });
});

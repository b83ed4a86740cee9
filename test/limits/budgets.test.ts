import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { createBudgets } from '../../src/limits/budgets.ts';
import { countedAddress } from '../../src/limits/clients.ts';
import { createMemoryCounters } from '../../src/limits/counters.ts';
import { createMemoryLimiters, createRedisLimiters } from '../../src/limits/limiters.ts';
import { budgetHeaders, openRequestContext, type RequestContext } from '../../src/limits/request-context.ts';
import { createLimits } from '../../src/limits/tier-limits.ts';
import { captureLogs } from '../support/log-capture.ts';

const limits = createLimits({ anonymous: 100, partner: 1_000, ops: 0 });
let nowMs = 1_000_000;
const clock = { now: () => nowMs };
afterEach(() => {
  nowMs = 1_000_000;
});

const requestContextOf = (clientIp: string, keyId?: string, tier: 'partner' | 'ops' = 'partner'): RequestContext => ({
  ...openRequestContext({ correlationId: 'c', authorization: undefined, clientIp }),
  caller: keyId === undefined ? { kind: 'anonymous' } : { kind: 'key', keyId, tier },
});

/** A connection that looks ready and fails with every command. */
const failing = {
  status: 'ready',
  defineCommand() {},
  rlflxIncr: () => Promise.reject(new Error('redis://user:secret@10.0.0.1 is away')),
} as unknown as Redis;

describe('createBudgets', () => {
  const create = (redis?: Redis) => {
    const logs = captureLogs();
    const limiters =
      redis === undefined
        ? createMemoryLimiters({ limits, clock })
        : createRedisLimiters({ limits, clock, redis, prefix: 'test', onceAlive() {} });
    return { logs, ...createBudgets({ limits, limiters, clock, logger: logs.logger }) };
  };

  test('default: consumes points until the window ends', async () => {
    const { charge } = create();
    const requestContext = requestContextOf('192.0.2.1');
    await charge(requestContext, 30, 'closed');
    expect(requestContext.rateLimit).toEqual({ policy: 'anonymous', limit: 100, remaining: 70, resetSec: 60 });
    nowMs += 20_500;
    await charge(requestContext, 70, 'closed');
    expect(requestContext.rateLimit).toEqual({ policy: 'anonymous', limit: 100, remaining: 0, resetSec: 40 });
    nowMs += 39_500;
    await charge(requestContext, 1, 'closed');
    expect(requestContext.rateLimit).toMatchObject({ remaining: 99, resetSec: 60 });
  });

  test('error: RateLimitedError has the waiting time', async () => {
    const { charge } = create();
    const requestContext = requestContextOf('192.0.2.1');
    await charge(requestContext, 100, 'closed');
    nowMs += 1_000;
    await expect(charge(requestContext, 1, 'closed')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSec: 59,
      details: { scope: 'client', policy: 'anonymous', limit: 100, windowSec: 60 },
    });
    expect(requestContext.rateLimit).toMatchObject({ remaining: 0, resetSec: 59 });
  });

  test('behavior: keys and addresses have separate budgets', async () => {
    const { charge } = create();
    await charge(requestContextOf('192.0.2.1'), 100, 'closed');
    const other = requestContextOf('192.0.2.2');
    await charge(other, 1, 'closed');
    expect(other.rateLimit).toMatchObject({ remaining: 99 });
    const keyed = requestContextOf('192.0.2.1', 'key-a');
    await charge(keyed, 1, 'closed');
    expect(keyed.rateLimit).toMatchObject({ policy: 'partner', remaining: 999 });
  });

  test('behavior: a key that moves between addresses has one budget', async () => {
    const { charge } = create();
    await charge(requestContextOf('192.0.2.1', 'key-a'), 600, 'closed');
    const requestContext = requestContextOf('192.0.2.2', 'key-a');
    await charge(requestContext, 300, 'closed');
    expect(requestContext.rateLimit).toMatchObject({ remaining: 100 });
  });

  test('behavior: 0 means no limit', async () => {
    const { charge } = create();
    const requestContext = requestContextOf('192.0.2.1', 'key-a', 'ops');
    await charge(requestContext, 1_000_000, 'closed');
    expect(requestContext.rateLimit).toBeNull();
    expect(budgetHeaders(requestContext, 60)).toEqual({});
  });

  test("behavior: a cost above the window's budget is allowed once per window", async () => {
    const { charge } = create();
    const requestContext = requestContextOf('192.0.2.1');
    await charge(requestContext, 5_000, 'closed');
    await expect(charge(requestContext, 1, 'closed')).rejects.toMatchObject({ code: 'rate_limited' });
  });

  test('error: UpstreamUnavailableError closes keyed surfaces when the shared store fails, without its texts', async () => {
    const { charge, logs } = create(failing);
    const error: unknown = await Promise.resolve(charge(requestContextOf('192.0.2.1', 'key-a'), 1, 'closed')).catch(
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'upstream_unavailable', status: 503, retryAfterSec: 2 });
    expect(JSON.stringify(error)).not.toMatch(/secret|10\.0\.0\.1/);
    await Promise.resolve(charge(requestContextOf('192.0.2.1', 'key-a'), 1, 'closed')).catch(() => {});
    const lines = logs.take();
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/secret|10\.0\.0\.1/);
  });

  test('behavior: public reads stay open then, counted in the process', async () => {
    const { charge } = create(failing);
    const requestContext = requestContextOf('192.0.2.1', 'key-a');
    await charge(requestContext, 1_000, 'open');
    await expect(charge(requestContext, 1, 'open')).rejects.toMatchObject({ code: 'rate_limited' });
    const nobody = requestContextOf('192.0.2.9');
    await charge(nobody, 1, 'closed');
    expect(nobody.rateLimit).toMatchObject({ remaining: 99 });
  });
});

describe('createMemoryCounters', () => {
  test('behavior: constant memory under a million identities; active ones stay', () => {
    const counters = createMemoryCounters({ windowSec: 60, max: 10_000 }, clock);
    let heap = 0;
    let mine = 0;
    for (let i = 0; i < 1_000_000; i += 1) {
      void counters.add(`identity-${i}`, 1);
      if (i % 5_000 === 0) {
        mine += 1;
        expect(counters.add('me', 1)).toMatchObject({ used: mine });
      }
      if (i === 100_000) heap = heldBytes();
    }
    // A million kept windows would be some 200 MB.
    expect(heldBytes() - heap).toBeLessThan(60 * 1024 * 1024);
  });
});

/** Heap after a collection, without garbage. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('IPv6', () => {
  test('behavior: networks of 64 bits have a budget each, and those of one network of 56 bits four together', async () => {
    const budgets = createBudgets({
      limits,
      limiters: createMemoryLimiters({ limits, clock }),
      clock,
      logger: captureLogs().logger,
    });
    const charge = (address: string, points: number) =>
      Promise.resolve(budgets.charge(requestContextOf(address), points, 'open')).then(
        () => 'paid',
        (error: { details: { limit: number } }) => error.details.limit,
      );
    expect(await charge('2001:db8:1:1::1', 100)).toBe('paid');
    expect(await charge('2001:db8:1:1::2', 1)).toBe(100);
    for (const i of [2, 3, 4]) expect(await charge(`2001:db8:1:${i}::1`, 100)).toBe('paid');
    expect(await charge('2001:db8:1:5::1', 1)).toBe(400);
    expect(budgets.exhausted({ clientIp: '2001:db8:1:ff::1' })).toMatchObject({ limit: 400, remaining: 0 });
    expect(budgets.exhausted({ clientIp: '2001:db8:1:100::1' })).toBeUndefined();
    expect(await charge('2001:db8:1:100::1', 1)).toBe('paid');
    await budgets.refund(requestContextOf('2001:db8:1:1::1'), 50);
    expect(await charge('2001:db8:1:5::1', 40)).toBe('paid');
  });
});

describe('countedAddress', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1', undefined],
    ['::ffff:192.0.2.1', '192.0.2.1', undefined],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1:0::/56'],
    ['2001:DB8:1:2:ffff::9', '2001:db8:1:2::/64', '2001:db8:1:0::/56'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64', '2001:db8:1:0::/56'],
    ['2001:db8:1:abff::1', '2001:db8:1:abff::/64', '2001:db8:1:ab00::/56'],
    ['2001:db8:1:a00::1', '2001:db8:1:a00::/64', '2001:db8:1:a00::/56'],
    ['2001:db8:1:ff::1', '2001:db8:1:ff::/64', '2001:db8:1:0::/56'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0:0::/56'],
    ['::1', '0:0:0:0::/64', '0:0:0:0::/56'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0:0::/56'],
    ['unknown', 'unknown', undefined],
  ])('default: %s', (address, identity, network) => {
    expect(countedAddress(address)).toEqual({ tier: 'anonymous', identity, network });
  });
});

describe('budgetHeaders', () => {
  test('default: the form of the IETF draft', () => {
    const requestContext = {
      ...requestContextOf('192.0.2.1'),
      rateLimit: { policy: 'partner', limit: 3_000, remaining: 2_990, resetSec: 42 } as const,
    };
    expect(budgetHeaders(requestContext, 60)).toEqual({
      'ratelimit-policy': '"partner";q=3000;w=60',
      ratelimit: '"partner";r=2990;t=42',
    });
  });
});

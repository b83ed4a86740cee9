import { RateLimiterRes } from 'rate-limiter-flexible';
import { beforeEach, describe, expect, test } from 'vitest';
import { createBudgets, RateLimitedError } from '../../src/limits/budgets.ts';
import { countedAddress, countedClient } from '../../src/limits/clients.ts';
import { createMemoryLimiters, type Limiters } from '../../src/limits/limiters.ts';
import { openRequestContext, type RequestContext } from '../../src/limits/request-context.ts';
import { createLimits } from '../../src/limits/tier-limits.ts';
import { captureLogs } from '../support/log-capture.ts';

const limits = createLimits({ anonymous: 100, partner: 1_000, ops: 0 });
const ADDRESS = '192.0.2.1';
const START_MS = 1_000_000;
let nowMs = START_MS;
const clock = { now: () => nowMs };
beforeEach(() => {
  nowMs = START_MS;
});

const anonymous = (clientIp = ADDRESS): RequestContext =>
  openRequestContext({ correlationId: 'c', authorization: undefined, clientIp });
const keyed = (tier: 'partner' | 'ops' = 'partner'): RequestContext => ({
  ...openRequestContext({ correlationId: 'c', authorization: 'Bearer a', clientIp: ADDRESS }),
  caller: { kind: 'key', keyId: 'key-a', tier },
});

/** Budgets over a store that answers as it is told. */
function scripted(answers: { consume?: (RateLimiterRes | Error)[]; reward?: (RateLimiterRes | Error)[] }) {
  const calls: unknown[] = [];
  const next = async (queue: (RateLimiterRes | Error)[] = []) => {
    const answer = queue.shift() ?? new RateLimiterRes(50, 30_000, 50, false);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const limiters: Limiters = {
    of: (tier, mode) => ({
      consume: async (identity, points) => {
        calls.push(['consume', tier, mode, identity, points]);
        const answer = await next(answers.consume);
        if (answer.remainingPoints < 0) throw answer;
        return answer;
      },
      reward: async (identity, points) => {
        calls.push(['reward', tier, mode, identity, points]);
        return next(answers.reward);
      },
    }),
    unblock: (tier) => void calls.push(['unblock', tier]),
  };
  const logs = captureLogs();
  return { calls, logs, ...createBudgets({ limits, limiters, clock, logger: logs.logger }) };
}
/** A store's refusal: nothing is left, the window ends after `ms`. */
const refusal = (ms: number) => new RateLimiterRes(-1, ms, 101, false);

const inMemory = () => {
  const limiters = createMemoryLimiters({ limits, clock });
  return createBudgets({ limits, limiters, clock, logger: captureLogs().logger });
};

describe('status after a charge', () => {
  test.each([
    [1, 1],
    [999, 1],
    [1_000, 1],
    [1_001, 2],
    [59_001, 60],
    [60_000, 60],
    // A store whose clock is ahead does not lengthen the window.
    [75_000, 60],
    [0, 1],
  ])('default: %s ms before the end of the window are %s s', async (ms, resetSec) => {
    const { charge } = scripted({ consume: [new RateLimiterRes(40, ms, 60, false)] });
    const requestContext = anonymous();
    await charge(requestContext, 10, 'open');
    expect(requestContext.rateLimit).toEqual({ policy: 'anonymous', limit: 100, remaining: 40, resetSec });
  });

  test('behavior: values of a store beyond the budget are not passed on', async () => {
    const { charge } = scripted({ consume: [new RateLimiterRes(130, 1_000, -30, false)] });
    const requestContext = anonymous();
    await charge(requestContext, 10, 'open');
    expect(requestContext.rateLimit?.remaining).toBe(100);
  });

  test('behavior: a charge above the whole budget counts as one budget, also ahead of a key', async () => {
    const { charge, chargeAhead, calls } = scripted({});
    expect(await charge(anonymous(), 5_000, 'open')).toBe(100);
    expect(await charge(keyed(), 999, 'closed')).toBe(999);
    await chargeAhead(keyed(), 5_000);
    expect(calls).toEqual([
      ['consume', 'anonymous', 'open', ADDRESS, 100],
      ['consume', 'partner', 'closed', 'key-a', 999],
      ['consume', 'anonymous', 'open', ADDRESS, 100],
    ]);
  });

  test('behavior: addresses are counted in the process while the store is away, on every surface', async () => {
    const { charge, refund, calls } = scripted({});
    await charge(anonymous(), 1, 'closed');
    await charge(keyed(), 1, 'open');
    await refund(anonymous(), 1);
    await refund(keyed(), 1);
    expect(calls.map((call) => (call as unknown[]).slice(0, 3))).toEqual([
      ['consume', 'anonymous', 'open'],
      ['consume', 'partner', 'open'],
      ['reward', 'anonymous', 'open'],
      ['reward', 'partner', 'closed'],
    ]);
  });

  test('behavior: a block that outlasts the window is lifted, a usual one is not', async () => {
    for (const [ms, lifted] of [
      [60_000, false],
      [60_001, true],
    ] as const) {
      const { charge, calls } = scripted({ consume: [refusal(ms)] });
      await expect(charge(anonymous(), 1, 'open')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSec: 60 });
      expect(calls.some((call) => (call as unknown[])[0] === 'unblock')).toBe(lifted);
    }
    const { charge, calls } = scripted({ consume: [new RateLimiterRes(0, 70_000, 100, false)] });
    await charge(anonymous(), 1, 'open');
    expect(calls).toHaveLength(1);
  });
});

describe('chargeAhead', () => {
  test('default: charges the address although the request has a key, until it is given back', async () => {
    const { charge, chargeAhead } = inMemory();
    const requestContext = keyed();
    const giveBack = await chargeAhead(requestContext, 30);
    expect(requestContext.rateLimit).toEqual({ policy: 'anonymous', limit: 100, remaining: 70, resetSec: 60 });
    giveBack();
    const other = anonymous();
    await charge(other, 1, 'open');
    expect(other.rateLimit?.remaining).toBe(99);
  });

  test('error: RateLimitedError without points left', async () => {
    const { charge, chargeAhead } = inMemory();
    await charge(anonymous(), 100, 'open');
    await expect(chargeAhead(keyed(), 1)).rejects.toMatchObject({
      code: 'rate_limited',
      details: { policy: 'anonymous' },
    });
  });

  test('behavior: charges nothing where addresses have no limit', async () => {
    const unlimited = createLimits({ anonymous: 0, partner: 1_000, ops: 0 });
    const limiters = createMemoryLimiters({ limits: unlimited, clock });
    const budgets = createBudgets({ limits: unlimited, limiters, clock, logger: captureLogs().logger });
    const requestContext = keyed();
    (await budgets.chargeAhead(requestContext, 5))();
    expect(requestContext.rateLimit).toBeNull();
  });

  test('behavior: a store that fails at the return is no error', async () => {
    const { chargeAhead, calls } = scripted({ reward: [new Error('away')] });
    (await chargeAhead(anonymous(), 5))();
    await Promise.resolve();
    expect(calls.at(-1)).toEqual(['reward', 'anonymous', 'open', ADDRESS, 5]);
  });
});

describe('refund', () => {
  test('default: the status has the remaining points', async () => {
    const { charge, refund } = inMemory();
    const requestContext = keyed();
    await charge(requestContext, 400, 'closed');
    nowMs += 10_000;
    await refund(requestContext, 150);
    expect(requestContext.rateLimit).toEqual({ policy: 'partner', limit: 1_000, remaining: 750, resetSec: 50 });
  });

  test.each([
    // Used before its return: 0 and less mean that the window of the charge has ended.
    [30, []],
    [0, []],
    [-1, [1]],
    [-30, [30]],
    [-80, [50]],
  ])('behavior: at a count of %s after the return, a new window gets nothing as a gift', async (consumed, taken) => {
    const { refund, calls } = scripted({ reward: [new RateLimiterRes(0, 1_000, consumed, false)] });
    await refund(anonymous(), 50);
    expect(calls.slice(1)).toEqual(taken.map((points) => ['consume', 'anonymous', 'open', ADDRESS, points]));
  });

  test('behavior: nothing is left where more was used than the budget', async () => {
    const { refund } = scripted({ reward: [new RateLimiterRes(0, 1_000, 140, false)] });
    const requestContext = anonymous();
    await refund(requestContext, 5);
    expect(requestContext.rateLimit?.remaining).toBe(0);
  });

  test('behavior: asks no store without a limit, and a failing store is no error', async () => {
    const { refund, calls } = scripted({ reward: [new Error('away')] });
    await refund(keyed('ops'), 5);
    expect(calls).toEqual([]);
    const requestContext = keyed();
    await refund(requestContext, 5);
    expect(requestContext.rateLimit).toBeNull();
  });
});

describe('exhausted', () => {
  const client = { clientIp: ADDRESS };

  test('default: for a second after the last point, counting down to the end of the window', async () => {
    const { charge, exhausted } = inMemory();
    await charge(anonymous(), 99, 'open');
    expect(exhausted(client)).toBeUndefined();
    await charge(anonymous(), 1, 'open');
    expect(exhausted(client)).toEqual({ policy: 'anonymous', limit: 100, remaining: 0, resetSec: 60 });
    nowMs += 999;
    expect(exhausted(client)).toMatchObject({ resetSec: 60 });
    nowMs += 1;
    expect(exhausted(client)).toBeUndefined();
  });

  test('behavior: a refused charge repeats it, and the window ends it', async () => {
    const { charge, exhausted } = inMemory();
    await charge(anonymous(), 100, 'open');
    nowMs += 59_600;
    await expect(charge(anonymous(), 1, 'open')).rejects.toThrow(RateLimitedError);
    expect(exhausted(client)).toMatchObject({ resetSec: 1 });
    nowMs += 399;
    expect(exhausted(client)).toMatchObject({ resetSec: 1 });
    nowMs += 1;
    expect(exhausted(client)).toBeUndefined();
  });

  test('behavior: a clock that is set back ends it', async () => {
    const { charge, exhausted } = inMemory();
    await charge(anonymous(), 100, 'open');
    nowMs -= 1;
    expect(exhausted(client)).toBeUndefined();
  });

  test('behavior: a refund ends it at once, unless nothing is left after it', async () => {
    const { charge, refund, exhausted } = inMemory();
    await charge(anonymous(), 100, 'open');
    await refund(anonymous(), 0);
    expect(exhausted(client)).toBeDefined();
    await refund(anonymous(), 1);
    expect(exhausted(client)).toBeUndefined();
  });

  test('behavior: a refund asks the shared store again only for a client that was exhausted', async () => {
    const { charge, refund, calls } = scripted({
      consume: [new RateLimiterRes(0, 1_000, 100, false)],
      reward: [new RateLimiterRes(0, 1_000, 90, false), new RateLimiterRes(0, 1_000, 80, false)],
    });
    await charge(anonymous(), 100, 'open');
    await refund(anonymous(), 10);
    await refund(anonymous(), 10);
    expect(calls.filter((call) => (call as unknown[])[0] === 'unblock')).toEqual([['unblock', 'anonymous']]);
  });

  test('behavior: clients are a key by its header, or a whole network', async () => {
    const { charge, exhausted } = inMemory();
    await charge(keyed(), 1_000, 'closed');
    expect(exhausted({ authorization: 'Bearer a' })).toMatchObject({ policy: 'partner', limit: 1_000 });
    expect(exhausted(client)).toBeUndefined();
    await charge(anonymous('2001:db8:1:2::5'), 100, 'open');
    expect(exhausted({ clientIp: '2001:db8:1:2::9' })).toMatchObject({ policy: 'anonymous' });
    // A header of a key that was not valid is no client.
    const refused = { ...anonymous('192.0.2.7'), authorization: 'Bearer b' };
    await charge(refused, 100, 'open');
    expect([exhausted({ authorization: 'Bearer b' }), exhausted({ clientIp: '192.0.2.7' })?.policy]).toEqual([
      undefined,
      'anonymous',
    ]);
  });
});

test('logs: a failing store once, its recovery once, and only for surfaces that are closed then', async () => {
  const answers = [new Error('away'), new Error('away')];
  const { charge, logs } = scripted({ consume: answers });
  const lines = () => logs.take().map((line) => line.split(' {')[0]);
  for (let i = 0; i < 2; i += 1)
    await expect(charge(keyed(), 1, 'closed')).rejects.toMatchObject({
      code: 'upstream_unavailable',
      retryAfterSec: 2,
    });
  expect(lines()).toEqual(['warn shared store failing: keyed surfaces are closed']);
  await charge(anonymous(), 1, 'closed');
  await charge(keyed(), 1, 'open');
  expect(lines()).toEqual([]);
  await charge(keyed(), 1, 'closed');
  await charge(keyed(), 1, 'closed');
  expect(lines()).toEqual(['info shared store recovered']);
});

test.each([
  ['client', undefined, /budget of 30 cost points per 60 s.*in 9 s/],
  ['streams', undefined, /30 subscriptions are open.*in 9 s/],
  ['field', 'Query.candles', /Query\.candles was called more than 30 times in 60 s.*in 9 s/],
] as const)('RateLimitedError: names the limit of the %s', (scope, field, message) => {
  const details = { scope, policy: 'anonymous', limit: 30, windowSec: 60, field } as const;
  expect(new RateLimitedError(details, 9)).toMatchObject({ code: 'rate_limited', details, retryAfterSec: 9 });
  expect(new RateLimitedError(details, 9).message).toMatch(message);
});

test('behavior: a limit of one point is a limit', async () => {
  const least = createLimits({ anonymous: 1, partner: 1, ops: 1 });
  const limiters = createMemoryLimiters({ limits: least, clock });
  const { charge, refund, chargeAhead } = createBudgets({
    limits: least,
    limiters,
    clock,
    logger: captureLogs().logger,
  });
  const requestContext = keyed();
  expect(await charge(requestContext, 5, 'closed')).toBe(1);
  expect(requestContext.rateLimit?.remaining).toBe(0);
  await refund(requestContext, 1);
  expect(requestContext.rateLimit?.remaining).toBe(1);
  await charge(requestContext, 1, 'closed');
  await expect(charge(requestContext, 1, 'closed')).rejects.toThrow(RateLimitedError);
  await chargeAhead(keyed(), 1);
  await expect(chargeAhead(keyed(), 1)).rejects.toThrow(RateLimitedError);
});

test('countedClient: the id of a key, or the address', () => {
  expect([countedClient(keyed()).identity, countedClient(anonymous()).identity]).toEqual(['key-a', ADDRESS]);
});

test.each([
  ['1:2:3::', '1:2:3:0::/64'],
  ['1::4:5:6:7:8', '1:0:0:4::/64'],
  ['1:2::', '1:2:0:0::/64'],
  ['::2:3:4:5:6:7', '0:0:2:3::/64'],
  ['0:00:000:0000::1', '0:0:0:0::/64'],
  ['10:0100::a00', '10:100:0:0::/64'],
  ['::ffff:192.0.2.1:1', '0:0:0:0::/64'],
])('countedAddress: %s belongs to %s', (address, identity) => {
  expect(countedAddress(address).identity).toBe(identity);
});

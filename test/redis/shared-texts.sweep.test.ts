import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseRedisUrl } from '../../src/config/redis-address.ts';
import { createRedisConnections } from '../../src/redis/connections.ts';
import { createSharedTexts } from '../../src/redis/shared-texts.ts';
import { type Clock, systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createBudget } from '../../src/upstreams/budgets.ts';
import { startRedis, type TestRedis } from '../snapshot/redis-server.ts';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis?.close());

/** The texts of one process. */
async function process(clock: Clock = systemClock) {
  const connections = createRedisConnections({ address: parseRedisUrl(redis.url), prefix: 'spiral' }, silentLogger);
  const connection = connections.connect('budgets');
  await expect.poll(() => connection.status).toBe('ready');
  return { texts: createSharedTexts(connection, 'spiral', clock), close: () => connection.disconnect() };
}

it('behavior: processes that spend at once never exceed the budget together, and go on alone without Redis', async () => {
  const clock = { now: () => 1_795_176_000_000 };
  const processes = await Promise.all([1, 2, 3].map(() => process(clock)));
  const rules = { limits: { minute: 60 } };
  const budgets = processes.map(({ texts }) => createBudget({ name: 'budget:test', rules, clock, texts }));
  const spending = { cost: 1, traffic: 'unlisted' } as const;
  const taken = await Promise.all(budgets.flatMap((budget) => Array.from({ length: 20 }, () => budget.take(spending))));
  expect(taken.filter((refused) => refused === null)).toHaveLength(30);
  expect((await budgets[0]?.use())?.spentInDay).toBe(30);
  for (const { close } of processes) close();
  // What this process has seen of it still counts.
  expect(await budgets[0]?.take(spending)).not.toBeNull();
});

it('behavior: the clock of Redis counts, however far the one of a process is from it', async () => {
  for (const apartMs of [0, 12_000, -3_600_000]) {
    const { texts, close } = await process({ now: () => Date.now() + apartMs });
    await texts.read('clock');
    expect(Math.abs(texts.aheadMs() + apartMs)).toBeLessThan(500);
    close();
  }
});

it('behavior: says whether a text is the shared one', async () => {
  const { texts, close } = await process();
  expect(await texts.update('say', (_text, isShared) => String(isShared))).toBe(true);
  close();
  expect(await texts.update('say', (text, isShared) => `${text} ${isShared}`)).toBe(false);
  expect(await texts.read('say')).toBe('true false');
});

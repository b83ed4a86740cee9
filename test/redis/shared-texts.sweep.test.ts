import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseRedisUrl } from '../../src/config/redis-address.ts';
import { createRedisConnections } from '../../src/redis/connections.ts';
import { createSharedTexts } from '../../src/redis/shared-texts.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createBudget } from '../../src/upstreams/budgets.ts';
import { startRedis, type TestRedis } from '../snapshot/redis-server.ts';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis?.close());

/** The texts of one process. */
async function process() {
  const connections = createRedisConnections({ address: parseRedisUrl(redis.url), prefix: 'spiral' }, silentLogger);
  const connection = connections.connect('budgets');
  await expect.poll(() => connection.status).toBe('ready');
  return { texts: createSharedTexts(connection, 'spiral'), close: () => connection.disconnect() };
}

it('behavior: processes that spend at once never exceed the budget together, and go on alone without Redis', async () => {
  const processes = await Promise.all([1, 2, 3].map(process));
  const clock = { now: () => 1_795_176_000_000 };
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

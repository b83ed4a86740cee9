import { expect } from 'vitest';
import type { RedisSettings } from '../../src/config/redis-address.ts';
import type { ChainFacts } from '../../src/domain/facts.ts';
import { createRedisLimiters } from '../../src/limits/limiters.ts';
import { createLimits } from '../../src/limits/tier-limits.ts';
import { onceAlive, untilAlive } from '../../src/redis/connection.ts';
import { createRedisConnections, type RedisConnections } from '../../src/redis/connections.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { createRedisLease } from '../../src/snapshot/lease.ts';
import { createRedisSnapshot } from '../../src/snapshot/redis.ts';
import type { SnapshotStore } from '../../src/snapshot/types.ts';
import { keepAll, price, publication } from './facts.ts';

export const CHAINS = [1, 4663];

/** Everything of one process that uses Redis. */
export interface RedisProcess {
  readonly connections: RedisConnections;
  readonly store: SnapshotStore;
  readonly lease: ReturnType<typeof createRedisLease>;
  readonly limiters: ReturnType<typeof createRedisLimiters>;
  close(): Promise<void>;
}

/** Start the Redis part of a process, and wait until it has read the facts. */
export async function startProcess(
  settings: RedisSettings,
  { logger = silentLogger as Logger, waitMs = 5_000 } = {},
): Promise<RedisProcess> {
  const connections = createRedisConnections(settings, logger);
  const store = createRedisSnapshot({
    connections,
    chainIds: CHAINS,
    clock: systemClock,
    logger,
    keep: () => keepAll,
    restoreWaitMs: waitMs,
    healEveryMs: 50,
  });
  const lease = createRedisLease({ connections, clock: systemClock, logger });
  const redis = connections.connect('rate-limits');
  const limiters = createRedisLimiters({
    limits: createLimits({ anonymous: 100, partner: 100, ops: 100 }),
    clock: systemClock,
    redis,
    prefix: connections.prefix,
    onceAlive: (resume) => onceAlive(redis, resume),
  });
  await Promise.all([store.restore(), untilAlive(redis, waitMs)]);
  return {
    connections,
    store,
    lease,
    limiters,
    async close() {
      await Promise.all([store.close(), lease.close()]);
      redis.disconnect();
    },
  };
}

/** Resolve with the first facts of a chain that have the price: now, or when a change brings them. */
export function untilPrice(store: SnapshotStore, usd: string, chainId = 1): Promise<ChainFacts> {
  return new Promise((resolve) => {
    const look = (facts: ChainFacts): void => {
      if (facts.chainId !== chainId || facts.groups.price.items.get('a')?.value.usd.toFixed() !== usd) return;
      leave();
      resolve(facts);
    };
    const leave = store.subscribe(look);
    look(store.facts(chainId));
  });
}

/** Publish a price on every chain. */
export async function publishPrice({ store }: RedisProcess, usd: string): Promise<void> {
  const nowMs = Date.now();
  for (const chainId of CHAINS) await store.publish(chainId, 'price', publication(nowMs, { a: price(usd, nowMs) }));
}

/** Use everything that the service uses, by two processes: facts and their notices, leases, and limits of two identities. */
export async function useEverything(one: RedisProcess, other: RedisProcess, usd: string): Promise<void> {
  await publishPrice(one, usd);
  for (const chainId of CHAINS) await untilPrice(other.store, usd, chainId);
  const jobs = ['prices', 'oracle:1', 'housekeeping'];
  for (const job of jobs) {
    const { lease } = await one.lease.acquire(job);
    expect([job, lease !== null]).toEqual([job, true]);
    expect((await other.lease.acquire(job)).freeInMs).toBeGreaterThan(0);
    expect(await lease?.renew()).toBe(true);
    await lease?.release();
  }
  for (const identity of [`a-${usd}`, `b-${usd}`, `c-${usd}`]) {
    const [here, there] = [one, other].map(({ limiters }) => limiters.of('partner', 'closed'));
    await here?.consume(identity, 3);
    expect((await there?.consume(identity, 4))?.remainingPoints).toBe(93);
    expect((await here?.reward(identity, 2))?.consumedPoints).toBe(5);
  }
}

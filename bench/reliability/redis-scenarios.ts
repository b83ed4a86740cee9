import { Redis } from 'ioredis';
import { FACT_GROUPS } from '../../src/domain/facts.ts';
import type { Lab } from './environment.ts';
import type { Scenario } from './scenarios.ts';

export interface RedisScenarioDeps {
  readonly lab: Lab;
  /** Note the beginning of the repair. */
  readonly mark: () => void;
  /** Whether all api processes are connected with Redis and serve newer facts. */
  readonly shared: () => Promise<boolean>;
}

const SNAPSHOT_KEYS = 'spiral:snapshot:*';

/** Run commands beside the services. */
async function asAdmin<T>(lab: Lab, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(lab.redis.url);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

/** List the faults of a reachable Redis. */
export function redisScenarios({ lab, mark, shared }: RedisScenarioDeps, minuteSec: number): readonly Scenario[] {
  let older: readonly (readonly [string, Record<string, string>])[] = [];
  const holdSec = minuteSec;
  /** Whether Redis has again every group that it had. */
  const complete = () =>
    asAdmin(lab, async (redis) => {
      const keys = await redis.keys(SNAPSHOT_KEYS);
      const counts = await Promise.all(keys.map(async (key) => (await redis.hkeys(key)).filter(isRevision).length));
      return keys.length === 2 && counts.every((count) => count >= FACT_GROUPS.length - 1);
    });
  const healed = async () => (await complete()) && (await shared());
  return [
    {
      name: 'Redis is flushed while all processes are connected (FLUSHALL)',
      holdSec: 0,
      break: () => {},
      mend: async () => {
        mark();
        await asAdmin(lab, (redis) => redis.flushall());
      },
      recovered: healed,
    },
    {
      name: `Redis is restored to its state ${holdSec} s ago`,
      holdSec,
      break: async () => {
        older = await asAdmin(lab, async (redis) => {
          const keys = await redis.keys(SNAPSHOT_KEYS);
          return Promise.all(keys.map(async (key) => [key, await redis.hgetall(key)] as const));
        });
      },
      mend: async () => {
        mark();
        await asAdmin(lab, async (redis) => {
          for (const [key, fields] of older) await redis.multi().del(key).hset(key, fields).exec();
        });
      },
      recovered: healed,
    },
    {
      name: `connections to Redis stay open and carry nothing for ${holdSec} s`,
      holdSec,
      break: () => lab.redisLine.set({ kind: 'swallow' }),
      mend: () => {
        mark();
        lab.redisLine.set({ kind: 'pass' });
      },
      recovered: healed,
    },
    {
      name: `Redis answers 2 s late for ${holdSec} s`,
      holdSec,
      break: () => lab.redisLine.set({ kind: 'slow', ms: 2_000 }),
      mend: () => {
        mark();
        lab.redisLine.set({ kind: 'pass' });
      },
      recovered: healed,
    },
    {
      name: `Redis is a cluster that is down for ${holdSec} s (CLUSTERDOWN)`,
      holdSec,
      break: () => lab.redisLine.lead(Number(new URL(lab.brokenCluster.url).port)),
      mend: () => {
        mark();
        lab.redisLine.lead();
      },
      recovered: healed,
    },
  ];
}

const isRevision = (field: string): boolean => field.endsWith('#rev');

import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Clock } from '../shared/clock.ts';

export interface Count {
  /** Points used in the running window, these included. Points below zero are given back. */
  readonly used: number;
  /** Milliseconds until the window ends. */
  readonly msLeft: number;
}

/** Counts points per identity in fixed windows. */
export interface Counters {
  add(identity: string, points: number): Count | Promise<Count>;
}

/** Counters that answer at once. */
export interface LocalCounters extends Counters {
  add(identity: string, points: number): Count;
}

export interface CounterOptions {
  readonly windowSec: number;
  /** Most identities remembered; the least recently seen one is forgotten first. */
  readonly max: number;
}

/**
 * Count in this process. Memory is bounded by `max`, however many identities come: who is forgotten starts a new window,
 * and who keeps asking is never forgotten.
 */
export function createMemoryCounters({ windowSec, max }: CounterOptions, clock: Clock): LocalCounters {
  const windows = new LRUCache<string, { used: number; endsAtMs: number }>({ max });
  return {
    add(identity, points) {
      const nowMs = clock.now();
      const running = windows.get(identity);
      const window =
        running !== undefined && running.endsAtMs > nowMs ? running : { used: 0, endsAtMs: nowMs + windowSec * 1000 };
      // What is given back after its window has ended is not owed by the next one.
      window.used = Math.max(0, window.used + points);
      if (window !== running) windows.set(identity, window);
      return { used: window.used, msLeft: window.endsAtMs - nowMs };
    },
  };
}

/** What an identity used here since it was last told of. */
export interface Told {
  readonly identity: string;
  readonly points: number;
  /** Milliseconds until its window ends here. */
  readonly msLeft: number;
}

/** Add what was used here to what all processes used, and learn the sums: one per identity told of. Rejects when that fails. */
export type Exchange = (told: readonly Told[]) => Promise<readonly Count[]>;

/** The first to tell of an identity begins its window. */
const EXCHANGE = `local sums = {}
for i, key in ipairs(KEYS) do
  local used = redis.call('INCRBY', key, ARGV[2 * i - 1])
  local left = redis.call('PTTL', key)
  if left < 0 then
    left = tonumber(ARGV[2 * i])
    redis.call('PEXPIRE', key, left)
  end
  sums[2 * i - 1] = used
  sums[2 * i] = left
end
return sums`;

/** Exchange through Redis, in one step for all. */
export function createRedisExchange(redis: Redis): Exchange {
  return async (told) => {
    const keys = told.map(({ identity }) => `spiral:limit:address:${identity}`);
    const values = told.flatMap(({ points, msLeft }) => [points, Math.ceil(msLeft)]);
    const sums = (await redis.eval(EXCHANGE, keys.length, ...keys, ...values)) as readonly number[];
    return told.map((_, i) => ({ used: sums[2 * i] ?? 0, msLeft: sums[2 * i + 1] ?? 0 }));
  };
}

/** Count in Redis, shared by all processes: one atomic step per charge. Rejects when Redis does not answer. */
export function createRedisCounters({ windowSec }: Pick<CounterOptions, 'windowSec'>, redis: Redis): Counters {
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: 'spiral:limit',
    points: Number.MAX_SAFE_INTEGER,
    duration: windowSec,
    rejectIfRedisNotReady: true,
  });
  return {
    async add(identity, points) {
      const { consumedPoints, msBeforeNext } = await limiter.penalty(identity, points);
      return { used: consumedPoints, msLeft: msBeforeNext };
    },
  };
}

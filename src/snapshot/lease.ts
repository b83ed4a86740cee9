import { randomUUID } from 'node:crypto';
import type { Logger } from '../shared/logger.ts';
import { connectRedis, firstTry } from './redis-connection.ts';

/** The right to do one job, until it runs out, is released, or is found lost. */
export interface Lease {
  /** Extend to the full time again. `false` = somebody else may hold it: stop the job. Throws when that cannot be told. */
  renew(): Promise<boolean>;
  /** Give it back, so that another process may take over at once. Never throws. */
  release(): Promise<void>;
}

export interface Asked {
  /** `null` = another process has it, or it cannot be told who has. */
  readonly lease: Lease | null;
  /** When its time is over unless it is renewed, ms from now; `null` = that cannot be told. */
  readonly freeInMs: number | null;
}

export interface LeasePort {
  /** How long a lease holds without being renewed, ms. */
  readonly ttlMs: number;
  /** Take the lease of a job, or learn when it may be free. Never throws. */
  acquire(job: string): Promise<Asked>;
  close(): Promise<void>;
}

/** Create the leases of a process that is alone: always granted. */
export function createMemoryLease(ttlMs = 60_000): LeasePort {
  return {
    ttlMs,
    acquire: async () => ({ lease: { renew: async () => true, release: async () => {} }, freeInMs: null }),
    close: async () => {},
  };
}

export interface RedisLeaseDeps {
  readonly url: string;
  readonly logger: Logger;
  readonly prefix?: string;
  readonly ttlMs?: number;
}

/**
 * The jobs of a dead warmer run elsewhere within this time of its last renewal: long enough for a slow second of Redis,
 * short enough for the shortest cadence.
 */
export const LEASE_MS = 15_000;
/** A lease is over before that, so that there is time to notice and to take it. */
export const LEASE_TTL_MS = 0.9 * LEASE_MS;

/** -1 = taken, else what is left of the holder's time, which may be 0. */
const ACQUIRE = `if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return -1 end return redis.call('PTTL', KEYS[1])`;
const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** Create leases shared through Redis: a token that only its holder can renew or give back. Without Redis none is granted. */
export function createRedisLease({ url, logger, prefix = 'spiral', ttlMs = LEASE_TTL_MS }: RedisLeaseDeps): LeasePort {
  const redis = connectRedis({ url, logger, name: 'lease' });
  const tried = firstTry(redis);
  return {
    ttlMs,
    acquire: async (job) => {
      const key = `${prefix}:lease:${job}`;
      const token = randomUUID();
      // What is asked before there was a connection would be told nothing.
      await tried;
      const left = await redis.eval(ACQUIRE, 1, key, token, ttlMs).then(Number, () => null);
      if (left !== -1) return { lease: null, freeInMs: left };
      const lease: Lease = {
        renew: async () => (await redis.eval(RENEW, 1, key, token, ttlMs)) === 1,
        release: async () => {
          await redis.eval(RELEASE, 1, key, token).catch(() => {});
        },
      };
      return { lease, freeInMs: null };
    },
    close: async () => {
      redis.disconnect();
    },
  };
}

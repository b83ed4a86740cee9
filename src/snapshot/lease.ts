import { randomUUID } from 'node:crypto';
import type { Logger } from '../shared/logger.ts';
import { connectRedis } from './redis-connection.ts';

/** The right to do one job, until it runs out, is released, or is found lost. */
export interface Lease {
  /** Extend to the full time again. `false` = somebody else may hold it: stop the job. Throws when that cannot be told. */
  renew(): Promise<boolean>;
  /** Give it back, so that another process may take over at once. Never throws. */
  release(): Promise<void>;
}

export interface LeasePort {
  /** How long a lease holds without being renewed, ms. */
  readonly ttlMs: number;
  /** Take the lease of a job. `null` = another process has it, or it cannot be told who has. Never throws. */
  acquire(job: string): Promise<Lease | null>;
  close(): Promise<void>;
}

/** Create the leases of a process that is alone: always granted. */
export function createMemoryLease(ttlMs = 60_000): LeasePort {
  return {
    ttlMs,
    acquire: async () => ({ renew: async () => true, release: async () => {} }),
    close: async () => {},
  };
}

export interface RedisLeaseDeps {
  readonly url: string;
  readonly logger: Logger;
  readonly prefix?: string;
  readonly ttlMs?: number;
}

/** Long enough for a slow second of Redis, short enough that a dead warmer is replaced within the shortest cadence. */
const LEASE_TTL_MS = 15_000;

const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** Create leases shared through Redis: a token that only its holder can renew or give back. Without Redis none is granted. */
export function createRedisLease({ url, logger, prefix = 'spiral', ttlMs = LEASE_TTL_MS }: RedisLeaseDeps): LeasePort {
  const redis = connectRedis({ url, logger, name: 'lease' });
  return {
    ttlMs,
    acquire: async (job) => {
      const key = `${prefix}:lease:${job}`;
      const token = randomUUID();
      try {
        if ((await redis.set(key, token, 'PX', ttlMs, 'NX')) !== 'OK') return null;
      } catch {
        return null;
      }
      return {
        renew: async () => (await redis.eval(RENEW, 1, key, token, ttlMs)) === 1,
        release: async () => {
          await redis.eval(RELEASE, 1, key, token).catch(() => {});
        },
      };
    },
    close: async () => {
      redis.disconnect();
    },
  };
}

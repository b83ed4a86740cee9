import { randomUUID } from 'node:crypto';
import { firstTry } from '../redis/connection.ts';
import type { RedisConnections } from '../redis/connections.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { MAX_AHEAD_MS } from '../shared/observed.ts';

/** The right to run one job, until it expires, is released or is lost. */
export interface Lease {
  /** Extend to the full time again. `false` = the lease is lost: stop the job. Throws when the store does not answer. */
  renew(): Promise<boolean>;
  /** Release the lease, so that another process can take over at once. Never throws. */
  release(): Promise<void>;
}

export interface LeaseAnswer {
  /** `null` = another process has it, or the store does not answer. */
  readonly lease: Lease | null;
  /** Time until the lease expires unless it is renewed, ms; `null` = not known. */
  readonly freeInMs: number | null;
}

export interface LeasePort {
  /** Life of a lease without renewal, ms. */
  readonly ttlMs: number;
  /** Try to take the lease of a job. Never throws. */
  acquire(job: string): Promise<LeaseAnswer>;
  /**
   * Whether our clock is too far from the shared one to hold a lease: our measurements would be refused, or displace others.
   */
  isClockOff(): boolean;
  close(): Promise<void>;
}

/** Create the leases of a single process: always granted. */
export function createMemoryLease(ttlMs = 60_000): LeasePort {
  return {
    ttlMs,
    acquire: async () => ({ lease: { renew: async () => true, release: async () => {} }, freeInMs: null }),
    isClockOff: () => false,
    close: async () => {},
  };
}

export interface RedisLeaseDeps {
  readonly connections: RedisConnections;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ttlMs?: number | undefined;
}

/**
 * The jobs of a dead warmer run elsewhere within this time of its last renewal: long enough for a slow second of Redis,
 * shorter than the shortest cadence.
 */
export const LEASE_MS = 15_000;
/** A lease expires earlier, which leaves time to notice and to take it. */
export const LEASE_TTL_MS = 0.9 * LEASE_MS;

/** Lead of our clock (ARGV[2]) over that of Redis, ms; `off`: too large for a lease. Part of the scripts that depend on it. */
const SKEW = `local t = redis.call('TIME')
local skew = math.floor(ARGV[2] - t[1] * 1000 - t[2] / 1000)
local off = skew > ${MAX_AHEAD_MS} or skew < -${MAX_AHEAD_MS}`;
/** Returns the skew, and -1 = granted, -2 = the clock is off, otherwise the remaining time of another holder, which may be 0. */
const ACQUIRE = `${SKEW}
if off then return {skew, -2} end
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3], 'NX') then return {skew, -1} end
return {skew, redis.call('PTTL', KEYS[1])}`;
/** Returns the skew, and 1 = renewed. With a clock that is off the lease is released, so that another process takes over. */
const RENEW = `${SKEW}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {skew, 0} end
if off then redis.call('DEL', KEYS[1]) return {skew, 0} end
return {skew, redis.call('PEXPIRE', KEYS[1], ARGV[3])}`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * Create leases shared through Redis: a token that only its holder can renew or release. Without Redis none is granted. A
 * process whose clock is more than two minutes from that of Redis gets none, and releases those it holds.
 */
export function createRedisLease(deps: RedisLeaseDeps): LeasePort {
  const { connections, clock, logger, ttlMs = LEASE_TTL_MS } = deps;
  const redis = connections.connect('lease');
  const tried = firstTry(redis);
  let clockOff = false;
  const run = async (script: string, key: string, token: string): Promise<number> => {
    const answer = await redis.eval(script, 1, key, token, clock.now(), ttlMs).catch((error: unknown) => {
      redis.note('leases', error);
      throw error;
    });
    redis.note('leases', null);
    const [skewMs = 0, result = 0] = (answer as readonly unknown[]).map(Number);
    const isOff = Math.abs(skewMs) > MAX_AHEAD_MS;
    if (isOff && !clockOff) logger.error({ skewMs }, 'clock is off: the jobs are left to other processes');
    if (clockOff && !isOff) logger.info({ skewMs }, 'clock agrees again: jobs are taken');
    clockOff = isOff;
    return result;
  };
  return {
    ttlMs,
    acquire: async (job) => {
      const key = `${connections.prefix}:lease:${job}`;
      const token = randomUUID();
      // A command before the first connection would fail.
      await tried;
      const result = await run(ACQUIRE, key, token).catch(() => null);
      if (result !== -1) return { lease: null, freeInMs: result === -2 ? null : result };
      const lease: Lease = {
        renew: async () => (await run(RENEW, key, token)) === 1,
        release: async () => {
          await redis.eval(RELEASE, 1, key, token).catch(() => {});
        },
      };
      return { lease, freeInMs: null };
    },
    isClockOff: () => clockOff,
    close: async () => {
      redis.disconnect();
    },
  };
}

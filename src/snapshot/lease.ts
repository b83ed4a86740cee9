import { randomUUID } from 'node:crypto';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { MAX_AHEAD_MS } from '../shared/observed.ts';
import { connectRedis, firstTry } from './redis-connection.ts';

/** The right to do one job, until it runs out, is released, or is found lost. */
export interface Lease {
  /** Extend to the full time again. `false` = somebody else may hold it: stop the job. Throws when that cannot be told. */
  renew(): Promise<boolean>;
  /** Give it back, so that another process may take over at once. Never throws. */
  release(): Promise<void>;
}

export interface LeaseAnswer {
  /** `null` = another process has it, or it cannot be told who has. */
  readonly lease: Lease | null;
  /** When its time is over unless it is renewed, ms from now; `null` = that cannot be told. */
  readonly freeInMs: number | null;
}

export interface LeasePort {
  /** How long a lease holds without being renewed, ms. */
  readonly ttlMs: number;
  /** Take the lease of a job, or learn when it may be free. Never throws. */
  acquire(job: string): Promise<LeaseAnswer>;
  /** Whether our clock is so far from the shared one that no lease is ours: what we measure would be refused, or refuse others. */
  isClockOff(): boolean;
  close(): Promise<void>;
}

/** Create the leases of a process that is alone: always granted. */
export function createMemoryLease(ttlMs = 60_000): LeasePort {
  return {
    ttlMs,
    acquire: async () => ({ lease: { renew: async () => true, release: async () => {} }, freeInMs: null }),
    isClockOff: () => false,
    close: async () => {},
  };
}

export interface RedisLeaseDeps {
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly prefix?: string | undefined;
  readonly ttlMs?: number | undefined;
}

/**
 * The jobs of a dead warmer run elsewhere within this time of its last renewal: long enough for a slow second of Redis,
 * short enough for the shortest cadence.
 */
export const LEASE_MS = 15_000;
/** A lease is over before that, so that there is time to notice and to take it. */
export const LEASE_TTL_MS = 0.9 * LEASE_MS;

/** How far our clock (ARGV[2]) is ahead of the one of Redis, ms; `off`: too far for a lease. In one step with what depends on it. */
const SKEW = `local t = redis.call('TIME')
local skew = math.floor(ARGV[2] - t[1] * 1000 - t[2] / 1000)
local off = skew > ${MAX_AHEAD_MS} or skew < -${MAX_AHEAD_MS}`;
/** Tells the skew, and -1 = taken, -2 = the clock is off, else what is left of the holder's time, which may be 0. */
const ACQUIRE = `${SKEW}
if off then return {skew, -2} end
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3], 'NX') then return {skew, -1} end
return {skew, redis.call('PTTL', KEYS[1])}`;
/** Tells the skew, and 1 = renewed. With a clock that is off it is given back, so that another process goes on. */
const RENEW = `${SKEW}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {skew, 0} end
if off then redis.call('DEL', KEYS[1]) return {skew, 0} end
return {skew, redis.call('PEXPIRE', KEYS[1], ARGV[3])}`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * Create leases shared through Redis: a token that only its holder can renew or give back. Without Redis none is granted; nor
 * to a process whose clock is more than two minutes from the one of Redis, which gives back what it holds.
 */
export function createRedisLease(deps: RedisLeaseDeps): LeasePort {
  const { url, clock, logger, prefix = 'spiral', ttlMs = LEASE_TTL_MS } = deps;
  const redis = connectRedis({ url, logger, name: 'lease' });
  const tried = firstTry(redis);
  let clockOff = false;
  const run = async (script: string, key: string, token: string): Promise<number> => {
    const answer = await redis.eval(script, 1, key, token, clock.now(), ttlMs);
    const [skewMs = 0, told = 0] = (answer as readonly unknown[]).map(Number);
    const isOff = Math.abs(skewMs) > MAX_AHEAD_MS;
    if (isOff && !clockOff) logger.error({ skewMs }, 'clock is off: the jobs are left to other processes');
    if (clockOff && !isOff) logger.info({ skewMs }, 'clock agrees again: jobs are taken');
    clockOff = isOff;
    return told;
  };
  return {
    ttlMs,
    acquire: async (job) => {
      const key = `${prefix}:lease:${job}`;
      const token = randomUUID();
      // What is asked before there was a connection would be told nothing.
      await tried;
      const told = await run(ACQUIRE, key, token).catch(() => null);
      if (told !== -1) return { lease: null, freeInMs: told === -2 ? null : told };
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

import type { Redis } from 'ioredis';
import { RateLimiterCompatibleAbstract, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../shared/clock.ts';
import { type CounterOptions, createMemoryCounters } from './counters.ts';
import { type Limits, TIERS, type Tier, WINDOW_SEC } from './limits.ts';

/** Whether points that the shared store cannot count are counted by this process instead, or refused. */
export type WhenStoreFails = 'open' | 'closed';

/**
 * Counts the points of one identity. `consume` rejects with a `RateLimiterRes` beyond the budget, and with an `Error` when the
 * shared store does not answer.
 */
export type Limiter = Pick<RateLimiterCompatibleAbstract, 'consume' | 'reward'>;

/** The rate limiters of all tiers. */
export interface Limiters {
  of(tier: Tier, whenStoreFails: WhenStoreFails): Limiter;
  /** Ask the shared store again about identities that this process refuses without asking. */
  unblock(tier: Tier): void;
}

/** Identities remembered at once; about 100 bytes each. */
export const MAX_ADDRESSES = 50_000;
const MAX_KEYS = 10_000;

interface MemoryLimiterOptions extends CounterOptions {
  readonly points: number;
  /** Told of every use. */
  readonly onUse?: (() => void) | undefined;
}

/**
 * A limiter of rate-limiter-flexible in bounded memory, by the injected clock. The one of the library forgets nobody before the
 * window ends and keeps a timer for each.
 */
class MemoryLimiter extends RateLimiterCompatibleAbstract {
  override readonly keyPrefix = '';
  override blockDuration = 0;
  override execEvenly = false;
  readonly #count: (key: string | number, points: number) => RateLimiterRes;
  readonly #points: number;

  constructor({ points, onUse, ...options }: MemoryLimiterOptions, clock: Clock) {
    super();
    const counters = createMemoryCounters(options, clock);
    this.#points = points;
    this.#count = (key, added) => {
      onUse?.();
      const { used, msLeft } = counters.add(String(key), added);
      return new RateLimiterRes(Math.max(0, points - used), msLeft, used, used === added);
    };
  }

  override async consume(key: string | number, points = 1): Promise<RateLimiterRes> {
    const result = this.#count(key, points);
    if (result.consumedPoints > this.#points) throw result;
    return result;
  }

  override async reward(key: string | number, points = 1): Promise<RateLimiterRes> {
    return this.#count(key, -points);
  }
}

function byTier<T>(make: (tier: Tier) => T): Readonly<Record<Tier, T>> {
  return Object.fromEntries(TIERS.map((tier) => [tier, make(tier)])) as Record<Tier, T>;
}

function memoryLimiter(tier: Tier, limits: Limits, clock: Clock, onUse?: () => void): MemoryLimiter {
  const max = tier === 'anonymous' ? MAX_ADDRESSES : MAX_KEYS;
  const options = { windowSec: WINDOW_SEC, max, points: limits[tier].points };
  return new MemoryLimiter(onUse === undefined ? options : { ...options, onUse }, clock);
}

/** Count in this process. */
export function createMemoryLimiters({ limits, clock }: { readonly limits: Limits; readonly clock: Clock }): Limiters {
  const limiters = byTier((tier) => memoryLimiter(tier, limits, clock));
  return { of: (tier) => limiters[tier], unblock() {} };
}

export interface RedisLimitersDeps {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly redis: Redis;
  /** Call back once, when Redis has answered again. */
  readonly onceAlive: (resume: () => void) => void;
  /** Told of every charge that this process counts because Redis does not answer, for metrics. */
  readonly onInsured?: (() => void) | undefined;
}

/**
 * Count in Redis, shared by all processes: one atomic step per charge, and none for an identity that has used its budget up.
 * While Redis does not answer, an `open` limiter counts in this process, and asks Redis again after its next sign of life.
 */
export function createRedisLimiters({ limits, clock, redis, onceAlive, onInsured }: RedisLimitersDeps): Limiters {
  let answers = true;
  const onUse = () => {
    onInsured?.();
    if (!answers) return;
    answers = false;
    onceAlive(() => {
      answers = true;
    });
  };
  const limiters = byTier((tier) => {
    // A tier without a budget is never counted.
    const points = Math.max(1, limits[tier].points);
    const insuranceLimiter = memoryLimiter(tier, limits, clock, onUse);
    const options = {
      storeClient: redis,
      keyPrefix: `spiral:limit:${tier}`,
      points,
      duration: WINDOW_SEC,
      inMemoryBlockOnConsumed: points,
      rejectIfRedisNotReady: true,
    };
    return {
      open: new RateLimiterRedis({ ...options, insuranceLimiter }),
      closed: new RateLimiterRedis(options),
      insuranceLimiter,
    };
  });
  return {
    of(tier, whenStoreFails) {
      const { open, closed, insuranceLimiter } = limiters[tier];
      if (whenStoreFails === 'closed') return closed;
      return answers ? open : insuranceLimiter;
    },
    unblock(tier) {
      const { open, closed } = limiters[tier];
      open.deleteInMemoryBlockedAll();
      closed.deleteInMemoryBlockedAll();
    },
  };
}

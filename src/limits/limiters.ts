import type { Redis } from 'ioredis';
import { RateLimiterCompatibleAbstract, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../shared/clock.ts';
import { NETWORK_CLIENTS } from './clients.ts';
import { type CounterOptions, createMemoryCounters } from './counters.ts';
import { type Limits, TIERS, type Tier, WINDOW_SEC } from './tier-limits.ts';

/** Whether this process counts points while the shared store fails (`open`), or refuses (`closed`). */
export type WhenStoreFails = 'open' | 'closed';

/**
 * Counts the points of identities. `consume` rejects with a `RateLimiterRes` beyond the budget, and with an `Error` when the
 * shared store does not answer.
 */
export type Limiter = Pick<RateLimiterCompatibleAbstract, 'consume' | 'reward'> & {
  /** Count at once, also beyond the budget; negative points are refunds. Absent: the shared store is asked. */
  readonly count?: (identity: string, points: number) => RateLimiterRes;
};

/** The budgets: of the clients of each tier, and of IPv6 networks with several clients. */
export type Budget = Tier | 'network';
const BUDGETS: readonly Budget[] = [...TIERS, 'network'];

/** Points of a budget per window; 0 = none. */
export function budgetPoints(limits: Limits, budget: Budget): number {
  return budget === 'network' ? NETWORK_CLIENTS * limits.anonymous.points : limits[budget].points;
}

export interface Limiters {
  of(budget: Budget, whenStoreFails: WhenStoreFails): Limiter;
  /** Clear this process's list of exhausted identities, so that the shared store is asked again. */
  unblock(budget: Budget): void;
}

/** Maximum number of identities in memory; about 100 bytes each. */
const MAX_ADDRESSES = 50_000;
const MAX_KEYS = 10_000;

interface MemoryLimiterOptions extends CounterOptions {
  readonly points: number;
  /** Called on every use. */
  readonly onUse?: (() => void) | undefined;
}

/**
 * A limiter of rate-limiter-flexible in bounded memory and with the injected clock. The library's own keeps every identity
 * until its window ends, with a timer for each.
 */
class MemoryLimiter extends RateLimiterCompatibleAbstract {
  override readonly keyPrefix = '';
  override blockDuration = 0;
  override execEvenly = false;
  readonly count: (identity: string, points: number) => RateLimiterRes;
  readonly #points: number;

  constructor({ points, onUse, ...options }: MemoryLimiterOptions, clock: Clock) {
    super();
    const counters = createMemoryCounters(options, clock);
    this.#points = points;
    this.count = (identity, added) => {
      onUse?.();
      const { used, msLeft } = counters.add(identity, added);
      return new RateLimiterRes(Math.max(0, points - used), msLeft, used, used === added);
    };
  }

  override async consume(key: string | number, points = 1): Promise<RateLimiterRes> {
    const result = this.count(String(key), points);
    if (result.consumedPoints > this.#points) throw result;
    return result;
  }

  override async reward(key: string | number, points = 1): Promise<RateLimiterRes> {
    return this.count(String(key), -points);
  }
}

function byBudget<T>(make: (budget: Budget) => T): Readonly<Record<Budget, T>> {
  return Object.fromEntries(BUDGETS.map((budget) => [budget, make(budget)])) as Record<Budget, T>;
}

function memoryLimiter(budget: Budget, limits: Limits, clock: Clock, onUse?: () => void): MemoryLimiter {
  const max = budget === 'anonymous' || budget === 'network' ? MAX_ADDRESSES : MAX_KEYS;
  const options = { windowSec: WINDOW_SEC, max, points: budgetPoints(limits, budget) };
  return new MemoryLimiter(onUse === undefined ? options : { ...options, onUse }, clock);
}

/** Create limiters of this process. */
export function createMemoryLimiters({ limits, clock }: { readonly limits: Limits; readonly clock: Clock }): Limiters {
  const limiters = byBudget((budget) => memoryLimiter(budget, limits, clock));
  return { of: (budget) => limiters[budget], unblock() {} };
}

export interface RedisLimitersDeps {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly redis: Redis;
  /** Every key begins with it and a colon. */
  readonly prefix: string;
  /** Call back once Redis has answered again. */
  readonly onceAlive: (resume: () => void) => void;
  /** Called on every charge that this process counts while Redis does not answer, for metrics. */
  readonly onInsured?: (() => void) | undefined;
}

/**
 * Create limiters in Redis, shared by all processes: one atomic step per charge, and none for an exhausted identity. While
 * Redis does not answer, an `open` limiter counts in this process, and returns to Redis after its next answer.
 */
export function createRedisLimiters(deps: RedisLimitersDeps): Limiters {
  const { limits, clock, redis, prefix, onceAlive, onInsured } = deps;
  let answers = true;
  const onUse = () => {
    onInsured?.();
    if (!answers) return;
    answers = false;
    onceAlive(() => {
      answers = true;
    });
  };
  const limiters = byBudget((budget) => {
    // A tier without a budget is never counted.
    const points = Math.max(1, budgetPoints(limits, budget));
    const insuranceLimiter = memoryLimiter(budget, limits, clock, onUse);
    const options = {
      storeClient: redis,
      keyPrefix: `${prefix}:limit:${budget}`,
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
    of(budget, whenStoreFails) {
      const { open, closed, insuranceLimiter } = limiters[budget];
      if (whenStoreFails === 'closed') return closed;
      return answers ? open : insuranceLimiter;
    },
    unblock(budget) {
      const { open, closed } = limiters[budget];
      open.deleteInMemoryBlockedAll();
      closed.deleteInMemoryBlockedAll();
    },
  };
}

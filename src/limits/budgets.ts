import { LRUCache } from 'lru-cache';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { type Awaitable, andThen } from '../shared/awaitable.ts';
import type { Clock } from '../shared/clock.ts';
import { AppError, UpstreamUnavailableError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { type CountedClient, countedAddress, countedClient } from './clients.ts';
import { type Budget, budgetPoints, type Limiters, type WhenStoreFails } from './limiters.ts';
import type { RateLimitStatus, RequestContext } from './request-context.ts';
import { type Limits, type Tier, WINDOW_SEC } from './tier-limits.ts';

export interface RateLimitedDetails {
  /**
   * `client` = the budget of the key, address or IPv6 network; `field` = the calls of one field; `streams` = open
   * subscriptions; `waits` = reads that wait for a block; `queue` = requests that wait for their turn.
   */
  readonly scope: 'client' | 'field' | 'streams' | 'waits' | 'queue';
  readonly policy: Tier;
  readonly limit: number;
  readonly windowSec: number;
  /** The field, by coordinate. */
  readonly field?: string | undefined;
}

export class RateLimitedError extends AppError<RateLimitedDetails> {
  constructor(details: RateLimitedDetails, retryAfterSec: number) {
    super('rate_limited', `${reasonOf(details)}. Try again in ${retryAfterSec} s, or send fewer requests.`, {
      details,
      retryAfterSec,
    });
  }
}

function reasonOf({ scope, limit, windowSec, field }: RateLimitedDetails): string {
  if (scope === 'client') return `The budget of ${limit} cost points per ${windowSec} s is used up`;
  if (scope === 'streams') return `${limit} subscriptions are open already: close one`;
  if (scope === 'waits') return `${limit} reads wait for a block already: let one of them end`;
  if (scope === 'queue') return `${limit} requests wait for their turn already`;
  return `${field} was called more than ${limit} times in ${windowSec} s`;
}

/** The error of a client without points left. */
export function clientLimited({ policy, limit, resetSec }: Pick<RateLimitStatus, 'policy' | 'limit' | 'resetSec'>) {
  return new RateLimitedError({ scope: 'client', policy, limit, windowSec: WINDOW_SEC }, resetSec);
}

const WINDOW_MS = WINDOW_SEC * 1_000;
/** How long a client counts as exhausted without another charge, because another process may refund points to it. */
const EXHAUSTED_MS = 1_000;
const MAX_EXHAUSTED = 10_000;

export interface BudgetDeps {
  readonly limits: Limits;
  readonly limiters: Limiters;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Budgets {
  /**
   * Charge a request's client and store the status of its budget in the context.
   * @returns the points that were counted: at most a whole budget
   * @throws RateLimitedError; UpstreamUnavailableError when the shared store fails and `whenStoreFails` is `closed`
   */
  charge(requestContext: RequestContext, points: number, whenStoreFails: WhenStoreFails): Awaitable<number>;
  /**
   * Charge the address of a request, even if it has a key, and store the status of its budget in the context.
   * @returns a function that refunds the charge and never throws
   * @throws RateLimitedError
   */
  chargeAhead(requestContext: RequestContext, points: number): Promise<() => void>;
  /** Refund points to a request's client for work that was not done. Never throws. */
  refund(requestContext: RequestContext, points: number): Awaitable<void>;
  /** The status of a client that had no points left within the last second; `undefined` = it may have some. */
  exhausted(client: Client): RateLimitStatus | undefined;
}

/** A client, by the header of its valid key or by its address. */
export type Client = { readonly authorization: string } | { readonly clientIp: string };

/** Create the budgets of clients. Addresses are always counted, by this process when the shared store fails. */
export function createBudgets({ limits, limiters, clock, logger }: BudgetDeps): Budgets {
  const { consume, giveBack, exhausted } = createCounts({ limits, limiters, clock });
  let storeWorks = true;
  const noteStore = (works: boolean) => {
    if (works !== storeWorks) {
      if (works) logger.info({ store: 'rate-limits' }, 'shared store recovered');
      else logger.warn({ store: 'rate-limits' }, 'shared store failing: keyed surfaces are closed');
    }
    storeWorks = works;
  };
  const storeFailed = (error: unknown): UpstreamUnavailableError => {
    noteStore(false);
    const cause = new Error(`rate limit store: ${error instanceof Error ? error.name : 'failed'}`);
    return new UpstreamUnavailableError('rate limit store', 'unreachable', { retryAfterSec: 2, cause });
  };

  return {
    charge(requestContext, points, whenStoreFails) {
      const counted = countedClient(requestContext);
      const { tier } = counted;
      const limit = limits[tier].points;
      if (limit === 0) return 0;
      // An operation that costs more than a whole window may run once per window.
      const charged = Math.min(points, limit);
      const take = ({ status, fits }: Counted): Awaitable<number> => {
        if (whenStoreFails === 'closed' && tier !== 'anonymous') noteStore(true);
        requestContext.rateLimit = status;
        return fits ? charged : Promise.reject(clientLimited(status));
      };
      const count = consume(counted, charged, whenStoreFails, noteOf(requestContext, counted));
      if (!(count instanceof Promise)) return take(count);
      return count.then(take, (error: unknown) => {
        throw storeFailed(error);
      });
    },
    async chargeAhead(requestContext, points) {
      if (limits.anonymous.points === 0) return () => {};
      const counted = countedAddress(requestContext.clientIp);
      const charged = Math.min(points, limits.anonymous.points);
      const { status, fits } = await consume(counted, charged, 'open', counted.identity);
      requestContext.rateLimit = status;
      if (!fits) throw clientLimited(status);
      return () => {
        const given = giveBack(counted, charged, counted.identity);
        if (given instanceof Promise) given.catch(() => {});
      };
    },
    refund(requestContext, points) {
      const counted = countedClient(requestContext);
      if (limits[counted.tier].points === 0) return undefined;
      const note = (status: RateLimitStatus): void => {
        requestContext.rateLimit = status;
      };
      const given = giveBack(counted, points, noteOf(requestContext, counted));
      if (!(given instanceof Promise)) return note(given);
      // The next charge reports a failing store, and the count ends with the window.
      return given.then(note, () => {});
    },
    exhausted,
  };
}

/** The status of a budget after a charge, and whether the charge fits. */
interface Counted {
  readonly status: RateLimitStatus;
  readonly fits: boolean;
}

/** Count points in the limiters, and remember for a moment the clients and networks without any left. */
function createCounts({ limits, limiters, clock }: Omit<BudgetDeps, 'logger'>) {
  const notes = new LRUCache<
    string,
    { readonly status: RateLimitStatus; readonly endsAtMs: number; readonly untilMs: number }
  >({
    max: MAX_EXHAUSTED,
  });
  const statusOf = (budget: Budget, policy: Tier, remaining: number, msLeft: number): RateLimitStatus => {
    const limit = budgetPoints(limits, budget);
    return { policy, limit, remaining: Math.min(limit, remaining), resetSec: secondsOf(msLeft) };
  };

  /** Count points of one budget. @throws errors of the store */
  const consumeOf = (
    budget: Budget,
    policy: Tier,
    identity: string,
    points: number,
    whenStoreFails: WhenStoreFails,
    note: string,
  ): Awaitable<Counted> => {
    const limiter = limiters.of(budget, policy === 'anonymous' ? 'open' : whenStoreFails);
    if (limiter.count) {
      const result = limiter.count(identity, points);
      return noted(budget, policy, result, result.consumedPoints <= budgetPoints(limits, budget), note);
    }
    return limiter.consume(identity, points).then(
      (result) => noted(budget, policy, result, true, note),
      (refused: unknown) => {
        if (refused instanceof RateLimiterRes) return noted(budget, policy, refused, false, note);
        throw refused;
      },
    );
  };
  const noted = (budget: Budget, policy: Tier, result: RateLimiterRes, fits: boolean, note: string): Counted => {
    const { remainingPoints } = result;
    const msBeforeNext = Math.min(WINDOW_MS, result.msBeforeNext);
    // The library blocks by the system clock. If that was set back, the block would be too long.
    if (!fits && result.msBeforeNext > WINDOW_MS) limiters.unblock(budget);
    const status = statusOf(budget, policy, fits ? remainingPoints : 0, msBeforeNext);
    if (!fits || remainingPoints === 0) {
      const nowMs = clock.now();
      const endsAtMs = nowMs + msBeforeNext;
      notes.set(note, {
        status: { ...status, remaining: 0 },
        endsAtMs,
        untilMs: Math.min(endsAtMs, nowMs + EXHAUSTED_MS),
      });
    }
    return { status, fits };
  };
  const giveBackOf = (
    budget: Budget,
    policy: Tier,
    identity: string,
    points: number,
    note: string,
  ): Awaitable<RateLimitStatus> => {
    const limiter = limiters.of(budget, policy === 'anonymous' ? 'open' : 'closed');
    const given = ({ consumedPoints, msBeforeNext }: RateLimiterRes): RateLimitStatus => {
      const remaining = Math.max(0, budgetPoints(limits, budget) - consumedPoints);
      if (remaining > 0 && notes.delete(note)) limiters.unblock(budget);
      return statusOf(budget, policy, remaining, msBeforeNext);
    };
    if (limiter.count) return given(limiter.count(identity, -points));
    return limiter.reward(identity, points).then(async (result) => {
      // A refund after the end of its window must not add to the next one.
      if (result.consumedPoints < 0) await limiter.consume(identity, Math.min(points, -result.consumedPoints));
      return given(result);
    });
  };

  return {
    /**
     * Count points of a client, and of its network.
     * @returns the status after the charge, of the network where that is used up, and whether the charge fits
     * @throws errors of the store
     */
    consume({ tier, identity, network }: CountedClient, points: number, when: WhenStoreFails, note: string) {
      return andThen(consumeOf(tier, tier, identity, points, when, note), (own): Awaitable<Counted> => {
        if (network === undefined || !own.fits) return own;
        const together = consumeOf('network', tier, network, points, when, network);
        return andThen(together, (both) => (both.fits ? own : both));
      });
    },
    giveBack({ tier, identity, network }: CountedClient, points: number, note: string) {
      const ofNetwork = network === undefined ? undefined : giveBackOf('network', tier, network, points, network);
      return andThen<unknown, RateLimitStatus>(ofNetwork, () => giveBackOf(tier, tier, identity, points, note));
    },
    exhausted(client: Client): RateLimitStatus | undefined {
      const nowMs = clock.now();
      for (const name of namesOf(client)) {
        const note = notes.get(name);
        if (note === undefined || nowMs >= note.untilMs || nowMs < note.untilMs - EXHAUSTED_MS) continue;
        return { ...note.status, resetSec: secondsOf(note.endsAtMs - nowMs) };
      }
      return undefined;
    },
  };
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}

/** Names under which it is noted that a client has no points left. */
function namesOf(client: Client): readonly string[] {
  if ('authorization' in client) return [client.authorization];
  const { identity, network } = countedAddress(client.clientIp);
  return network === undefined ? [identity] : [identity, network];
}

/** The name under which a counted client is noted: of a key its header, which is known before the key. */
function noteOf({ caller, authorization }: RequestContext, { identity }: CountedClient): string {
  return caller.kind === 'key' && authorization !== undefined ? authorization : identity;
}

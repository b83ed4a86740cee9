import { LRUCache } from 'lru-cache';
import { RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../shared/clock.ts';
import { AppError, UpstreamUnavailableError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Limiter, Limiters, WhenStoreFails } from './limiters.ts';
import { type Limits, type Tier, tierOf, WINDOW_SEC } from './limits.ts';
import type { RateLimitStatus, RequestContext } from './request-context.ts';

export interface RateLimitedDetails {
  /**
   * `client` = the budget of the key or address; `field` = the calls of one field; `streams` = open subscriptions; `waits` =
   * reads that wait for a block.
   */
  readonly scope: 'client' | 'field' | 'streams' | 'waits';
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
  charge(requestContext: RequestContext, points: number, whenStoreFails: WhenStoreFails): Promise<number>;
  /**
   * Charge the address of a request, even if it has a key, and store the status of its budget in the context.
   * @returns a function that refunds the charge and never throws
   * @throws RateLimitedError
   */
  chargeAhead(requestContext: RequestContext, points: number): Promise<() => void>;
  /** Refund points to a request's client for work that was not done. Never throws. */
  refund(requestContext: RequestContext, points: number): Promise<void>;
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

  const chargeIp = (clientIp: string, points: number) => {
    const charged = Math.min(points, limits.anonymous.points);
    const limiter = limiters.of('anonymous', 'open');
    return consume(limiter, 'anonymous', addressIdentity(clientIp), charged, { clientIp });
  };
  const limiterOf = (tier: Tier, whenStoreFails: WhenStoreFails) =>
    limiters.of(tier, tier === 'anonymous' ? 'open' : whenStoreFails);

  return {
    async charge(requestContext, points, whenStoreFails) {
      const tier = tierOf(requestContext.caller);
      const limit = limits[tier].points;
      if (limit === 0) return 0;
      // An operation that costs more than a whole window may run once per window.
      const charged = Math.min(points, limit);
      const limiter = limiterOf(tier, whenStoreFails);
      let count: Awaited<ReturnType<typeof consume>>;
      try {
        count = await consume(limiter, tier, clientIdentity(requestContext), charged, clientOf(requestContext));
      } catch (error) {
        noteStore(false);
        const cause = new Error(`rate limit store: ${error instanceof Error ? error.name : 'failed'}`);
        throw new UpstreamUnavailableError('rate limit store', 'unreachable', { retryAfterSec: 2, cause });
      }
      if (whenStoreFails === 'closed' && tier !== 'anonymous') noteStore(true);
      requestContext.rateLimit = count.status;
      if (!count.fits) throw clientLimited(count.status);
      return charged;
    },
    async chargeAhead(requestContext, points) {
      if (limits.anonymous.points === 0) return () => {};
      const { clientIp } = requestContext;
      const { status, fits } = await chargeIp(clientIp, points);
      requestContext.rateLimit = status;
      if (!fits) throw clientLimited(status);
      const limiter = limiters.of('anonymous', 'open');
      return () => {
        giveBack(limiter, 'anonymous', addressIdentity(clientIp), points, { clientIp }).catch(() => {});
      };
    },
    async refund(requestContext, points) {
      const tier = tierOf(requestContext.caller);
      if (limits[tier].points === 0) return;
      try {
        const limiter = limiterOf(tier, 'closed');
        requestContext.rateLimit = await giveBack(
          limiter,
          tier,
          clientIdentity(requestContext),
          points,
          clientOf(requestContext),
        );
      } catch {
        // The next charge reports a failing store, and the count ends with the window.
      }
    },
    exhausted,
  };
}

/** Count points in the limiters, and remember for a moment the clients without any left. */
function createCounts({ limits, limiters, clock }: Omit<BudgetDeps, 'logger'>) {
  const notes = new LRUCache<string, { readonly policy: Tier; readonly endsAtMs: number; readonly untilMs: number }>({
    max: MAX_EXHAUSTED,
  });
  const statusOf = (policy: Tier, remaining: number, msLeft: number): RateLimitStatus => {
    const { points: limit } = limits[policy];
    const resetSec = Math.max(1, Math.ceil(msLeft / 1000));
    return { policy, limit, remaining: Math.min(limit, remaining), resetSec };
  };

  /**
   * @returns the status after the charge, and whether the charge fits
   * @throws errors of the store
   */
  const consume = async (limiter: Limiter, tier: Tier, identity: string, points: number, client: Client) => {
    let result: RateLimiterRes;
    let fits = true;
    try {
      result = await limiter.consume(identity, points);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      result = refused;
      fits = false;
    }
    const { remainingPoints } = result;
    const msBeforeNext = Math.min(WINDOW_MS, result.msBeforeNext);
    // The library blocks by the system clock. If that was set back, the block would be too long.
    if (!fits && result.msBeforeNext > WINDOW_MS) limiters.unblock(tier);
    if (!fits || remainingPoints === 0) {
      const nowMs = clock.now();
      const endsAtMs = nowMs + msBeforeNext;
      notes.set(noteOf(client), { policy: tier, endsAtMs, untilMs: Math.min(endsAtMs, nowMs + EXHAUSTED_MS) });
    }
    return { status: statusOf(tier, fits ? remainingPoints : 0, msBeforeNext), fits };
  };
  const giveBack = async (limiter: Limiter, tier: Tier, identity: string, points: number, client: Client) => {
    const result = await limiter.reward(identity, points);
    // A refund after the end of its window must not add to the next one.
    if (result.consumedPoints < 0) await limiter.consume(identity, Math.min(points, -result.consumedPoints));
    const remaining = Math.max(0, limits[tier].points - result.consumedPoints);
    if (remaining > 0 && notes.delete(noteOf(client))) limiters.unblock(tier);
    return statusOf(tier, remaining, result.msBeforeNext);
  };

  return {
    consume,
    giveBack,
    exhausted(client: Client): RateLimitStatus | undefined {
      const note = notes.get(noteOf(client));
      const nowMs = clock.now();
      if (note === undefined || nowMs >= note.untilMs || nowMs < note.untilMs - EXHAUSTED_MS) return undefined;
      return statusOf(note.policy, 0, note.endsAtMs - nowMs);
    },
  };
}

function clientOf({ caller, authorization, clientIp }: RequestContext): Client {
  return caller.kind === 'key' && authorization !== undefined ? { authorization } : { clientIp };
}

function noteOf(client: Client): string {
  return 'authorization' in client ? client.authorization : addressIdentity(client.clientIp);
}

/** Identity of the client that a request is counted for. */
export function clientIdentity({ caller, clientIp }: Pick<RequestContext, 'caller' | 'clientIp'>): string {
  return caller.kind === 'key' ? caller.keyId : addressIdentity(clientIp);
}

/** Identity of an address; of IPv6 the network (/64), because a client usually has a whole one. */
export function addressIdentity(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [head = '', tail] = address.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}

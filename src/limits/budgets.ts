import type { Clock } from '../shared/clock.ts';
import { AppError, UpstreamUnavailableError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { type Count, type Counters, createMemoryCounters, type LocalCounters } from './counters.ts';
import { type Limits, type Tier, tierOf, WINDOW_SEC } from './limits.ts';
import type { Standing, Visit } from './request-context.ts';

export interface RateLimitedDetails {
  /** `client` = the budget of the key or address; `field` = the calls of one field; `streams` = subscriptions kept open. */
  readonly scope: 'client' | 'field' | 'streams';
  readonly policy: Tier;
  readonly limit: number;
  readonly windowSec: number;
  /** The field, by coordinate. */
  readonly field?: string;
}

export class RateLimitedError extends AppError<RateLimitedDetails> {
  constructor(details: RateLimitedDetails, retryAfterSec: number) {
    super('rate_limited', `${said(details)}. Try again in ${retryAfterSec} s, or ask less often.`, {
      details,
      retryAfterSec,
    });
  }
}

function said({ scope, limit, windowSec, field }: RateLimitedDetails): string {
  if (scope === 'client') return `The budget of ${limit} cost points per ${windowSec} s is used up`;
  if (scope === 'streams') return `${limit} subscriptions are open already: close one`;
  return `${field} was called more than ${limit} times in ${windowSec} s`;
}

/** Say that nothing is left of a client's budget. */
export function clientLimited({ policy, limit, resetSec }: Pick<Standing, 'policy' | 'limit' | 'resetSec'>) {
  return new RateLimitedError({ scope: 'client', policy, limit, windowSec: WINDOW_SEC }, resetSec);
}

/** Addresses remembered at once; about 100 bytes each. */
export const MAX_ADDRESSES = 50_000;
const MAX_KEYS = 10_000;

/** Whether a charge that the shared store cannot take is counted here instead, or refused. */
export type WhenStoreFails = 'open' | 'closed';

export interface BudgetDeps {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counters that all processes share. Without them everything is counted here. */
  readonly shared?: Counters;
  /** Counters of addresses, which answer at once. Without them addresses are counted here alone. */
  readonly addresses?: LocalCounters;
}

export interface Budgets {
  /**
   * Charge a visit's client and note where its budget stands.
   * @returns the points that were counted: at most a whole budget
   * @throws RateLimitedError; UpstreamUnavailableError when the shared store fails and the surface closes with it
   */
  charge(visit: Visit, points: number, whenStoreFails: WhenStoreFails): Promise<number>;
  /**
   * Charge an address without a key, at once, when its budget allows: where it then stands, `null` without a budget.
   * `undefined` = it does not allow it, and nothing was charged.
   */
  chargeAddress(clientIp: string, points: number): Standing | null | undefined;
  /** Where the budget of an address stands when nothing of it is left; `undefined` = something is, or it has none. */
  usedUp(clientIp: string): Standing | undefined;
  /** Give a visit's client points back that were charged for work that was not done. Never throws. */
  refund(visit: Visit, points: number): Promise<void>;
  /**
   * Charge the address of a visit, whoever it is, and note where its budget stands.
   * @returns what gives the charge back. @throws RateLimitedError
   */
  chargeAhead(visit: Visit, points: number): () => void;
}

/**
 * Build the budgets of clients. Addresses are counted here, because public reads must not wait for a shared store; what other
 * processes counted comes afterwards. Keys are counted in the shared store where there is one.
 */
export function createBudgets({ limits, clock, logger, shared, ...own }: BudgetDeps): Budgets {
  const addresses = own.addresses ?? createMemoryCounters({ windowSec: WINDOW_SEC, max: MAX_ADDRESSES }, clock);
  const keysHere = createMemoryCounters({ windowSec: WINDOW_SEC, max: MAX_KEYS }, clock);
  let storeWorks = true;
  const noteStore = (works: boolean) => {
    if (works !== storeWorks) {
      if (works) logger.info({ store: 'rate-limits' }, 'shared store recovered');
      else logger.warn({ store: 'rate-limits' }, 'shared store failing: keyed surfaces are closed');
    }
    storeWorks = works;
  };

  const count = async (visit: Visit, points: number, whenStoreFails: WhenStoreFails) => {
    if (visit.caller.kind === 'anonymous') return addresses.add(addressIdentity(visit.clientIp), points);
    if (shared === undefined) return keysHere.add(visit.caller.keyId, points);
    try {
      const counted = await shared.add(visit.caller.keyId, points);
      noteStore(true);
      return counted;
    } catch (error) {
      noteStore(false);
      if (whenStoreFails === 'open') return keysHere.add(visit.caller.keyId, points);
      const cause = new Error(`rate limit store: ${error instanceof Error ? error.name : 'failed'}`);
      throw new UpstreamUnavailableError('rate limit store', 'unreachable', { retryAfterSec: 2, cause });
    }
  };

  const standingOf = (policy: Tier, { used, msLeft }: Count): Standing => {
    const limit = limits[policy].points;
    const resetSec = Math.max(1, Math.ceil(msLeft / 1000));
    return { policy, limit, remaining: Math.min(limit, Math.max(0, limit - used)), resetSec };
  };

  return {
    chargeAddress(clientIp, points) {
      const policy = 'anonymous';
      const limit = limits[policy].points;
      if (limit === 0) return null;
      const identity = addressIdentity(clientIp);
      const charged = Math.min(points, limit);
      const counted = addresses.add(identity, charged);
      if (counted.used <= limit) return standingOf(policy, counted);
      addresses.add(identity, -charged);
      return undefined;
    },
    usedUp(clientIp) {
      const { points: limit } = limits.anonymous;
      if (limit === 0) return undefined;
      const counted = addresses.add(addressIdentity(clientIp), 0);
      return counted.used >= limit ? standingOf('anonymous', counted) : undefined;
    },
    async refund(visit, points) {
      const policy = tierOf(visit.caller);
      if (limits[policy].points === 0) return;
      try {
        visit.standing = standingOf(policy, await count(visit, -points, 'closed'));
      } catch {
        // The store is away, and has told so: what it counted ends with the window.
      }
    },
    chargeAhead(visit, points) {
      const { points: limit } = limits.anonymous;
      if (limit === 0) return () => {};
      const identity = addressIdentity(visit.clientIp);
      const counted = addresses.add(identity, points);
      visit.standing = standingOf('anonymous', counted);
      if (counted.used > limit) throw clientLimited(visit.standing);
      return () => void addresses.add(identity, -points);
    },
    async charge(visit, points, whenStoreFails) {
      const policy = tierOf(visit.caller);
      const limit = limits[policy].points;
      if (limit === 0) return 0;
      // What costs more than a whole window can still be asked for, once per window.
      const charged = Math.min(points, limit);
      const counted = await count(visit, charged, whenStoreFails);
      visit.standing = standingOf(policy, counted);
      if (counted.used > limit) throw clientLimited(visit.standing);
      return charged;
    },
  };
}

/** Name the client that a visit is counted for. */
export function clientIdentity({ caller, clientIp }: Pick<Visit, 'caller' | 'clientIp'>): string {
  return caller.kind === 'key' ? caller.keyId : addressIdentity(clientIp);
}

/** One client per address; of IPv6 the network (/64), because a client has all of that. */
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

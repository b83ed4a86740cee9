import type { Caller } from '../resolvers/common/caller.ts';
import type { RequestInfo } from '../shared/request-info.ts';
import type { Tier } from './tier-limits.ts';

/** Status of a client's budget after its last charge. */
export interface RateLimitStatus {
  readonly policy: Tier;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, rounded up. */
  readonly resetSec: number;
}

/** State of one request in the gateway. Each property is set once, in this order. */
export interface RequestContext extends RequestInfo {
  /** Anonymous until the key is checked. */
  caller: Caller;
  /** `null` before the first charge, without a budget, and on refused keys, which get no information. */
  rateLimit: RateLimitStatus | null;
  /** Whether it has a key that is not valid, and is answered as one without a key. */
  refusedKey: boolean;
  /** Running refunds. The answer waits for them, so that it states the final budget. They never reject. */
  readonly refunds: Promise<void>[];
}

export function openRequestContext(info: RequestInfo): RequestContext {
  const { correlationId, authorization, clientIp, left, needsKey } = info;
  const caller = { kind: 'anonymous' } as const;
  const own = { correlationId, authorization, clientIp, left, needsKey };
  return { ...own, caller, rateLimit: null, refusedKey: false, refunds: [] };
}

/** The budget as extensions of a GraphQL answer. */
export function budgetExtension(
  { rateLimit }: Pick<RequestContext, 'rateLimit'>,
  windowSec: number,
): { readonly extensions?: { readonly rateLimit: RateLimitStatus & { readonly windowSec: number } } | undefined } {
  return rateLimit === null ? {} : { extensions: { rateLimit: { ...rateLimit, windowSec } } };
}

/** In the form of RFC 7234: code 299, no agent, and a text for people. */
const REFUSED_KEY_WARNING =
  '299 - "The API key is not valid: this is the answer without a key, on the budget of the address. Send a valid key, or none."';

/**
 * The budget as headers, in the form of the IETF draft "RateLimit header fields for HTTP", and the warning about a key that is
 * not valid.
 */
export function budgetHeaders(
  { rateLimit, refusedKey }: Pick<RequestContext, 'rateLimit'> & Partial<Pick<RequestContext, 'refusedKey'>>,
  windowSec: number,
): Record<string, string> {
  const warning: Record<string, string> = refusedKey ? { warning: REFUSED_KEY_WARNING } : {};
  if (rateLimit === null) return warning;
  const { policy, limit, remaining, resetSec } = rateLimit;
  return {
    ...warning,
    'ratelimit-policy': `"${policy}";q=${limit};w=${windowSec}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSec}`,
  };
}

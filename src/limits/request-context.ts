import type { Caller } from '../resolvers/common/context.ts';
import type { RequestInfo } from '../shared/request-info.ts';
import type { Tier } from './limits.ts';

/** Where a client's budget stands after its last charge. */
export interface RateLimitStatus {
  readonly policy: Tier;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, rounded up. */
  readonly resetSec: number;
}

/** One request on its way through the gateway. What is learnt of it is noted here, once, in this order. */
export interface RequestContext extends RequestInfo {
  /** Anonymous until the key was checked. */
  caller: Caller;
  /** `null` before the first charge, without a budget, and on refused keys, which learn nothing. */
  rateLimit: RateLimitStatus | null;
  /** What is being given back; the answer waits for it, so that it tells the budget as it is. None rejects. */
  readonly refunds: Promise<void>[];
}

export function openRequestContext({ correlationId, authorization, clientIp }: RequestInfo): RequestContext {
  return { correlationId, authorization, clientIp, caller: { kind: 'anonymous' }, rateLimit: null, refunds: [] };
}

/** The same numbers as extensions of a GraphQL answer. */
export function budgetExtension(
  { rateLimit }: Pick<RequestContext, 'rateLimit'>,
  windowSec: number,
): { readonly extensions?: { readonly rateLimit: RateLimitStatus & { readonly windowSec: number } } | undefined } {
  return rateLimit === null ? {} : { extensions: { rateLimit: { ...rateLimit, windowSec } } };
}

/** The budget as headers, in the form of the IETF draft "RateLimit header fields for HTTP". */
export function budgetHeaders(
  { rateLimit }: Pick<RequestContext, 'rateLimit'>,
  windowSec: number,
): Record<string, string> {
  if (rateLimit === null) return {};
  const { policy, limit, remaining, resetSec } = rateLimit;
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=${windowSec}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSec}`,
  };
}

import type { Caller } from '../resolvers/common/caller.ts';
import type { RequestInfo } from '../shared/request-info.ts';
import type { Tier } from './limits.ts';

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
  /** Running refunds. The answer waits for them, so that it states the final budget. They never reject. */
  readonly refunds: Promise<void>[];
}

export function openRequestContext({ correlationId, authorization, clientIp, left }: RequestInfo): RequestContext {
  return { correlationId, authorization, clientIp, left, caller: { kind: 'anonymous' }, rateLimit: null, refunds: [] };
}

/** The budget as extensions of a GraphQL answer. */
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

import type { Caller } from '../resolvers/common/context.ts';
import type { RequestInfo } from '../shared/request-info.ts';
import type { Tier } from './limits.ts';

/** Where a client's budget stands after its last charge. */
export interface Standing {
  readonly policy: Tier;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, rounded up. */
  readonly resetSec: number;
}

/** One request on its way through the front door. What is learnt of it is noted here, once, in this order. */
export interface Visit extends RequestInfo {
  /** Anonymous until the key was checked. */
  caller: Caller;
  /** `null` before the first charge, without a budget, and on refused keys, which learn nothing. */
  standing: Standing | null;
  /** What is being given back; the answer waits for it, so that it tells the budget as it is. None rejects. */
  readonly refunds: Promise<void>[];
}

export function openVisit(info: RequestInfo): Visit {
  return { ...info, caller: { kind: 'anonymous' }, standing: null, refunds: [] };
}

/** The same numbers as extensions of a GraphQL answer. */
export function budgetExtension(
  { standing }: Pick<Visit, 'standing'>,
  windowSec: number,
): { readonly extensions?: { readonly rateLimit: Standing & { readonly windowSec: number } } } {
  return standing === null ? {} : { extensions: { rateLimit: { ...standing, windowSec } } };
}

/** The budget as headers, in the form of the IETF draft "RateLimit header fields for HTTP". */
export function budgetHeaders({ standing }: Pick<Visit, 'standing'>, windowSec: number): Record<string, string> {
  if (standing === null) return {};
  const { policy, limit, remaining, resetSec } = standing;
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=${windowSec}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSec}`,
  };
}

import type { Budgets } from './budgets.ts';
import { RateLimitedError } from './budgets.ts';
import type { RequestContext } from './request-context.ts';

/** Counts of the use of a key; negative points are refunds. */
export interface UseCounts {
  readonly calls?: number;
  readonly points?: number;
  readonly refusals?: number;
}

/** Budgets that also count the points and refusals of keys. */
export function withUsage(budgets: Budgets, usage: { note(keyId: string, counts: UseCounts): void }): Budgets {
  const note = ({ caller }: RequestContext, counts: UseCounts): void => {
    if (caller.kind === 'key') usage.note(caller.keyId, counts);
  };
  const chargeKey = async (...[requestContext, points, whenStoreFails]: Parameters<Budgets['charge']>) => {
    try {
      const counted = await budgets.charge(requestContext, points, whenStoreFails);
      note(requestContext, { points });
      return counted;
    } catch (error) {
      if (error instanceof RateLimitedError) note(requestContext, { refusals: 1 });
      throw error;
    }
  };
  return {
    ...budgets,
    charge(requestContext, points, whenStoreFails) {
      if (requestContext.caller.kind !== 'key') return budgets.charge(requestContext, points, whenStoreFails);
      return chargeKey(requestContext, points, whenStoreFails);
    },
    refund(requestContext, points) {
      note(requestContext, { points: -points });
      return budgets.refund(requestContext, points);
    },
  };
}

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
  return {
    ...budgets,
    async charge(requestContext, points, whenStoreFails) {
      try {
        const counted = await budgets.charge(requestContext, points, whenStoreFails);
        note(requestContext, { points });
        return counted;
      } catch (error) {
        if (error instanceof RateLimitedError) note(requestContext, { refusals: 1 });
        throw error;
      }
    },
    async refund(requestContext, points) {
      note(requestContext, { points: -points });
      await budgets.refund(requestContext, points);
    },
  };
}

import type { Clock } from '../shared/clock.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import { createBudget } from '../upstreams/budget.ts';

export interface StrangersDeps {
  /** Public name of the provider. */
  readonly provider: string;
  readonly perMinute: number;
  readonly clock: Clock;
}

export interface Strangers {
  /** Let a question through about something that is not in the catalog. @throws UpstreamUnavailableError, saying when to come back */
  admit(): Promise<void>;
}

/**
 * Bound what questions about anything at all may use of a provider's budget: made-up names, however many, leave the rest to
 * what is in the catalog.
 */
export function createStrangers({ provider, perMinute, clock }: StrangersDeps): Strangers {
  const budget = createBudget({
    clock,
    requestsPerMinute: perMinute,
    maxWaitMs: 0,
    sleep: async () => {},
  });
  return {
    async admit() {
      const refused = await budget.take();
      if (refused === null) return;
      throw new UpstreamUnavailableError(provider, 'rate_limited', {
        retryAfterSec: Math.ceil(refused.refusedForMs / 1_000),
      });
    },
  };
}

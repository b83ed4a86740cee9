import type { Clock } from '../shared/clock.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import { createBudget } from '../upstreams/budget.ts';

export interface UnlistedAssetQuotaDeps {
  readonly provider: string;
  readonly perMinute: number;
  readonly clock: Clock;
}

export interface UnlistedAssetQuota {
  /**
   * Admit a request for an asset that is not in the catalog.
   * @throws UpstreamUnavailableError with the time to wait
   */
  admit(): Promise<void>;
}

/**
 * Create the quota for requests for unlisted assets: a share of a provider's budget, so that invented names cannot use up the
 * budget of the catalog's assets.
 */
export function createUnlistedAssetQuota({ provider, perMinute, clock }: UnlistedAssetQuotaDeps): UnlistedAssetQuota {
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
      throw new UpstreamUnavailableError(provider, 'throttled', {
        retryAfterSec: Math.ceil(refused.refusedForMs / 1_000),
      });
    },
  };
}

import type { Clock } from '../shared/clock.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import { createBudget } from '../upstreams/budget.ts';

export interface UnlistedAssetQuotaDeps {
  /** Public name of the provider. */
  readonly provider: string;
  readonly perMinute: number;
  readonly clock: Clock;
}

export interface UnlistedAssetQuota {
  /** Admit a request for an asset that is not in the catalog. @throws UpstreamUnavailableError with the time to wait */
  admit(): Promise<void>;
}

/**
 * Limit the share of a provider's budget that requests for unlisted assets may use: made-up names leave the rest to the assets
 * of the catalog.
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
      throw new UpstreamUnavailableError(provider, 'rate_limited', {
        retryAfterSec: Math.ceil(refused.refusedForMs / 1_000),
      });
    },
  };
}

import type { BreakerLimits } from '../shared/calls/circuit-breaker.ts';

/** Connection settings of one provider. */
export interface ProviderConfig {
  readonly baseUrl: string;
  /** Sent as the provider expects it (header or query parameter), never logged. */
  readonly apiKey?: string | undefined;
  /** Per attempt, from sending to the last byte of the body. */
  readonly timeoutMs: number;
  /** Maximum number of requests in any window of 60 s. */
  readonly requestsPerMinute: number;
  /**
   * Failed calls in a row after which calls fail at once for the cool-down. The default cool-down is below every refresh
   * cadence.
   */
  readonly breaker?: BreakerLimits | undefined;
}

export const PROVIDERS = [
  'pendle',
  'defillamaYields',
  'defillamaCoins',
  'stablewatch',
  'royco',
  'merkl',
  'coingecko',
  'geckoterminal',
  'kyberswap',
  'openocean',
  'morphoApi',
] as const;
export type ProviderName = (typeof PROVIDERS)[number];
export type UpstreamsConfig = Readonly<Record<ProviderName, ProviderConfig>>;

/**
 * Background reads may take 15 s, requests to swap venues 20 s, of which each purpose grants its own share (`QUOTE_REQUEST_MS`). Request budgets are the published
 * free tiers (CoinGecko and GeckoTerminal 30 a minute), otherwise an estimate. A build takes two quotes, and a quote of
 * AggregatorOne two requests: the budget of swap venues is enough for a hundred concurrent builds.
 */
export const UPSTREAM_DEFAULTS: UpstreamsConfig = {
  pendle: { baseUrl: 'https://api-v2.pendle.finance/core', timeoutMs: 20_000, requestsPerMinute: 300 },
  defillamaYields: { baseUrl: 'https://yields.llama.fi', timeoutMs: 15_000, requestsPerMinute: 60 },
  defillamaCoins: { baseUrl: 'https://coins.llama.fi', timeoutMs: 15_000, requestsPerMinute: 60 },
  stablewatch: { baseUrl: 'https://api.stablewatch.io/api', timeoutMs: 15_000, requestsPerMinute: 60 },
  royco: { baseUrl: 'https://vault.api.royco.org/api/v1', timeoutMs: 15_000, requestsPerMinute: 60 },
  merkl: { baseUrl: 'https://api.merkl.xyz/v4', timeoutMs: 15_000, requestsPerMinute: 120 },
  coingecko: { baseUrl: 'https://api.coingecko.com/api/v3', timeoutMs: 10_000, requestsPerMinute: 30 },
  geckoterminal: { baseUrl: 'https://api.geckoterminal.com/api/v2', timeoutMs: 10_000, requestsPerMinute: 30 },
  kyberswap: { baseUrl: 'https://aggregator-api.kyberswap.com', timeoutMs: 20_000, requestsPerMinute: 1_200 },
  openocean: { baseUrl: 'https://open-api-pro.openocean.finance', timeoutMs: 20_000, requestsPerMinute: 600 },
  morphoApi: { baseUrl: 'https://api.morpho.org/graphql', timeoutMs: 15_000, requestsPerMinute: 60 },
};

/** Complete the given settings with the defaults. */
export function upstreamsConfig(
  given: Readonly<Partial<Record<ProviderName, Readonly<Partial<ProviderConfig>>>>>,
): UpstreamsConfig {
  return Object.fromEntries(
    PROVIDERS.map((name) => [name, { ...UPSTREAM_DEFAULTS[name], ...given[name] }]),
  ) as UpstreamsConfig;
}

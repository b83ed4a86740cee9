export interface BreakerLimits {
  readonly failures: number;
  readonly coolDownMs: number;
}

/** How one provider is reached. */
export interface ProviderConfig {
  readonly baseUrl: string;
  /** Sent the way the provider wants it (header or query parameter), never logged. */
  readonly apiKey?: string;
  /** For one attempt, from sending to the last byte of the body. */
  readonly timeoutMs: number;
  /** No window of 60 s ever sees more requests than this. */
  readonly requestsPerMinute: number;
  /** After so many failed calls in a row, fail at once for the cool-down. The default stays below every refresh cadence. */
  readonly breaker?: BreakerLimits;
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
 * Background reads may wait 15 s; whoever waits for a swap quote waits for 6 s at most. Request budgets are the free tiers'
 * where the provider publishes one (CoinGecko and GeckoTerminal 30 a minute), else a polite guess. A build takes two quotes,
 * and a quote of AggregatorOne two requests: swap venues are granted what a hundred builds at once need.
 */
export const UPSTREAM_DEFAULTS: UpstreamsConfig = {
  pendle: { baseUrl: 'https://api-v2.pendle.finance/core', timeoutMs: 10_000, requestsPerMinute: 300 },
  defillamaYields: { baseUrl: 'https://yields.llama.fi', timeoutMs: 15_000, requestsPerMinute: 60 },
  defillamaCoins: { baseUrl: 'https://coins.llama.fi', timeoutMs: 15_000, requestsPerMinute: 60 },
  stablewatch: { baseUrl: 'https://api.stablewatch.io/api', timeoutMs: 15_000, requestsPerMinute: 60 },
  royco: { baseUrl: 'https://vault.api.royco.org/api/v1', timeoutMs: 15_000, requestsPerMinute: 60 },
  merkl: { baseUrl: 'https://api.merkl.xyz/v4', timeoutMs: 15_000, requestsPerMinute: 120 },
  coingecko: { baseUrl: 'https://api.coingecko.com/api/v3', timeoutMs: 10_000, requestsPerMinute: 30 },
  geckoterminal: { baseUrl: 'https://api.geckoterminal.com/api/v2', timeoutMs: 10_000, requestsPerMinute: 30 },
  kyberswap: { baseUrl: 'https://aggregator-api.kyberswap.com', timeoutMs: 6_000, requestsPerMinute: 1_200 },
  openocean: { baseUrl: 'https://open-api-pro.openocean.finance', timeoutMs: 6_000, requestsPerMinute: 600 },
  morphoApi: { baseUrl: 'https://api.morpho.org/graphql', timeoutMs: 15_000, requestsPerMinute: 60 },
};

/** Complete what is given with the defaults. */
export function upstreamsConfig(
  given: Readonly<Partial<Record<ProviderName, Readonly<Partial<ProviderConfig>>>>>,
): UpstreamsConfig {
  return Object.fromEntries(
    PROVIDERS.map((name) => [name, { ...UPSTREAM_DEFAULTS[name], ...given[name] }]),
  ) as UpstreamsConfig;
}

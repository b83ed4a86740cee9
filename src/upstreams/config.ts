import type { BreakerLimits } from '../shared/calls/circuit-breaker.ts';
import type { BudgetRules, Limits } from './budget.ts';
import { PROVIDERS, type ProviderName, rulesOf } from './limits.ts';

/** Connection settings of one provider. */
export interface ProviderConfig {
  readonly baseUrl: string;
  /** Sent as the provider expects it (header or query parameter), never logged. */
  readonly apiKey?: string | undefined;
  /** Per attempt, from sending to the last byte of the body. */
  readonly timeoutMs: number;
  /** Most units in each window, and the shares of those who use them. */
  readonly rules: BudgetRules;
  /**
   * Failed calls in a row after which calls fail at once for the cool-down. The default cool-down is below every refresh
   * cadence.
   */
  readonly breaker?: BreakerLimits | undefined;
}

export type UpstreamsConfig = Readonly<Record<ProviderName, ProviderConfig>>;

/** Addresses and timeouts. Background reads may take 15 s, requests to swap venues 20 s, of which each purpose grants its own share (`QUOTE_REQUEST_MS`). */
const PLACES: Readonly<Record<ProviderName, Pick<ProviderConfig, 'baseUrl' | 'timeoutMs'>>> = {
  pendle: { baseUrl: 'https://api-v2.pendle.finance/core', timeoutMs: 20_000 },
  defillamaYields: { baseUrl: 'https://yields.llama.fi', timeoutMs: 15_000 },
  defillamaCoins: { baseUrl: 'https://coins.llama.fi', timeoutMs: 15_000 },
  stablewatch: { baseUrl: 'https://api.stablewatch.io/api', timeoutMs: 15_000 },
  royco: { baseUrl: 'https://vault.api.royco.org/api/v1', timeoutMs: 15_000 },
  merkl: { baseUrl: 'https://api.merkl.xyz/v4', timeoutMs: 15_000 },
  coingecko: { baseUrl: 'https://api.coingecko.com/api/v3', timeoutMs: 10_000 },
  geckoterminal: { baseUrl: 'https://api.geckoterminal.com/api/v2', timeoutMs: 10_000 },
  kyberswap: { baseUrl: 'https://aggregator-api.kyberswap.com', timeoutMs: 20_000 },
  openocean: { baseUrl: 'https://open-api-pro.openocean.finance', timeoutMs: 20_000 },
  morphoApi: { baseUrl: 'https://api.morpho.org/graphql', timeoutMs: 15_000 },
};

/** Settings of one provider, where they differ from the defaults. */
export type GivenConfig = Readonly<Partial<Omit<ProviderConfig, 'rules'>>> & {
  /** Limits of its plan, instead of those that are known. */
  readonly limits?: Limits | undefined;
};

/** Complete the given settings with the defaults. The limits depend on the key. */
export function upstreamsConfig(given: Readonly<Partial<Record<ProviderName, GivenConfig>>> = {}): UpstreamsConfig {
  return Object.fromEntries(
    PROVIDERS.map((name) => {
      const { limits, ...own } = given[name] ?? {};
      return [name, { ...PLACES[name], ...own, rules: rulesOf(name, own.apiKey, limits) }];
    }),
  ) as UpstreamsConfig;
}

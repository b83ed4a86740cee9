import type { Config } from '../config/config.ts';
import { type LimitedProvider, parseProviderLimits } from '../config/provider-limits.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { type GivenConfig, type UpstreamsConfig, upstreamsConfig } from '../upstreams/config.ts';

/** Addresses, keys, timeouts and limits of the providers. */
export function providersOf({ env }: Pick<Config, 'env'>): UpstreamsConfig {
  const timeout = env.UPSTREAM_TIMEOUT_MS === undefined ? {} : { timeoutMs: env.UPSTREAM_TIMEOUT_MS };
  const limits = env.UPSTREAM_LIMITS === undefined ? {} : parseProviderLimits(env.UPSTREAM_LIMITS);
  const at = (name: LimitedProvider, apiKey?: string): GivenConfig => ({
    baseUrl: env[`${name}_URL`],
    ...timeout,
    ...withoutUndefined({ apiKey, limits: limits[name] }),
  });
  return upstreamsConfig({
    pendle: at('PENDLE', env.PENDLE_API_KEY),
    defillamaYields: at('DEFILLAMA_YIELDS'),
    defillamaCoins: at('DEFILLAMA_COINS'),
    stablewatch: at('STABLEWATCH', env.STABLEWATCH_API_KEY),
    royco: at('ROYCO', env.ROYCO_API_KEY),
    merkl: at('MERKL', env.MERKL_API_KEY),
    coingecko: at('COINGECKO', env.COINGECKO_API_KEY),
    geckoterminal: at('GECKOTERMINAL'),
    kyberswap: at('KYBERSWAP', env.KYBERSWAP_CLIENT_ID),
    openocean: at('OPENOCEAN', env.OPENOCEAN_API_KEY),
    morphoApi: at('MORPHO_API', env.MORPHO_API_KEY),
  });
}

import type { Config } from '../config/config.ts';
import { type LimitedProvider, parseProviderLimits } from '../config/provider-limits.ts';
import type { FreshnessBudgets } from '../domain/facts.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { affordableSec } from '../upstreams/budget.ts';
import { type GivenConfig, type UpstreamsConfig, upstreamsConfig } from '../upstreams/config.ts';
import { type Cadences, DEFAULT_CADENCES } from '../warmers/types.ts';

/** Map the configuration to the settings of each part. */

export function budgetsOf({ env }: Config): FreshnessBudgets {
  const slow = env.BUDGET_SLOW_APY_SEC;
  return {
    lendingState: env.BUDGET_LENDING_STATE_SEC,
    oracle: env.BUDGET_ORACLE_SEC,
    oracleFeed: env.BUDGET_ORACLE_FEED_SEC,
    borrowHistory: env.BUDGET_BORROW_HISTORY_SEC,
    dailyHistory: env.BUDGET_DAILY_APY_SEC,
    collateralApy: {
      yieldmarket: env.BUDGET_YIELDMARKET_SEC,
      aggregator: env.BUDGET_DAILY_APY_SEC,
      incentivemarket: slow,
      stableindex: slow,
      onchain: slow,
      none: slow,
    },
    incentives: env.BUDGET_INCENTIVES_SEC,
    incentiveHistory: env.BUDGET_INCENTIVES_SEC,
    price: env.BUDGET_PRICES_SEC,
    exitLiquidity: env.BUDGET_EXIT_LIQUIDITY_SEC,
    sharedLiquidity: env.BUDGET_ORACLE_SEC,
    stableIndex: slow,
    tvl: env.BUDGET_TVL_SEC,
    deployment: env.BUDGET_DEPLOYMENT_SEC,
    marketSupport: env.BUDGET_DEPLOYMENT_SEC,
    tokenContract: env.BUDGET_DEPLOYMENT_SEC,
    opsPortfolios: env.BUDGET_OPS_PORTFOLIOS_SEC,
  };
}

/** The price of every coin of both chains: one request. */
const PRICES = { cost: 1, traffic: 'background' } as const;

/** Cadences as configured; that of prices is as slow as the plan of their provider allows. */
export function cadencesOf(config: Pick<Config, 'env'>): Cadences {
  const { env } = config;
  // A run comes up to a tenth of its cadence early.
  const pricesSec = Math.ceil(affordableSec(providersOf(config).coingecko.rules, PRICES) / 0.9);
  return {
    ...DEFAULT_CADENCES,
    lendingState: env.REFRESH_LENDING_STATE_SEC,
    yieldmarketApy: env.REFRESH_YIELDMARKET_SEC,
    onchainApy: env.REFRESH_ONCHAIN_APY_SEC,
    slowApy: env.REFRESH_SLOW_APY_SEC,
    incentives: env.REFRESH_INCENTIVES_SEC,
    incentiveHistory: env.REFRESH_INCENTIVES_SEC,
    prices: Math.max(env.REFRESH_PRICES_SEC, pricesSec),
    exitLiquidity: env.REFRESH_EXIT_LIQUIDITY_SEC,
    sharedLiquidity: env.REFRESH_PRICES_SEC,
    borrowHistory: env.REFRESH_BORROW_HISTORY_SEC,
    tvl: env.REFRESH_TVL_SEC,
    deployment: env.REFRESH_DEPLOYMENT_SEC,
  };
}

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

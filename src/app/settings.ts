import type { Config } from '../config/config.ts';
import type { FreshnessBudgets } from '../domain/facts.ts';
import { type UpstreamsConfig, upstreamsConfig } from '../upstreams/config.ts';
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

export function cadencesOf({ env }: Config): Cadences {
  return {
    ...DEFAULT_CADENCES,
    lendingState: env.REFRESH_LENDING_STATE_SEC,
    yieldmarketApy: env.REFRESH_YIELDMARKET_SEC,
    onchainApy: env.REFRESH_ONCHAIN_APY_SEC,
    slowApy: env.REFRESH_SLOW_APY_SEC,
    incentives: env.REFRESH_INCENTIVES_SEC,
    incentiveHistory: env.REFRESH_INCENTIVES_SEC,
    prices: env.REFRESH_PRICES_SEC,
    exitLiquidity: env.REFRESH_EXIT_LIQUIDITY_SEC,
    sharedLiquidity: env.REFRESH_PRICES_SEC,
    borrowHistory: env.REFRESH_BORROW_HISTORY_SEC,
    tvl: env.REFRESH_TVL_SEC,
    deployment: env.REFRESH_DEPLOYMENT_SEC,
  };
}

export function providersOf({ env }: Pick<Config, 'env'>): UpstreamsConfig {
  const key = (value: string | undefined) => (value === undefined ? {} : { apiKey: value });
  const timeout = env.UPSTREAM_TIMEOUT_MS === undefined ? {} : { timeoutMs: env.UPSTREAM_TIMEOUT_MS };
  const at = (baseUrl: string, apiKey?: string) => ({ baseUrl, ...timeout, ...key(apiKey) });
  return upstreamsConfig({
    pendle: at(env.PENDLE_URL),
    defillamaYields: at(env.DEFILLAMA_YIELDS_URL),
    defillamaCoins: at(env.DEFILLAMA_COINS_URL),
    stablewatch: at(env.STABLEWATCH_URL, env.STABLEWATCH_API_KEY),
    royco: at(env.ROYCO_URL, env.ROYCO_API_KEY),
    merkl: at(env.MERKL_URL),
    coingecko: at(env.COINGECKO_URL, env.COINGECKO_API_KEY),
    geckoterminal: at(env.GECKOTERMINAL_URL),
    kyberswap: at(env.KYBERSWAP_URL),
    openocean: at(env.OPENOCEAN_URL, env.OPENOCEAN_API_KEY),
    morphoApi: at(env.MORPHO_API_URL),
  });
}

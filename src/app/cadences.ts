import type { Config } from '../config/config.ts';
import { affordableSec } from '../upstreams/budget.ts';
import { type Cadences, DEFAULT_CADENCES } from '../warmers/types.ts';
import { providersOf } from './provider-settings.ts';

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

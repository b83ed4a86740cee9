import type { Config } from '../config/config.ts';
import type { FreshnessBudgets } from '../domain/facts.ts';

/** The age at which each group of facts becomes stale, seconds, as configured. */
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

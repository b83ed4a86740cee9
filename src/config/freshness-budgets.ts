import type { FreshnessBudgets } from '../domain/facts.ts';
import { seconds } from './numbers.ts';

/** The age at which each group of facts becomes stale. */
export const freshnessSettings = {
  BUDGET_LENDING_STATE_SEC: seconds.default(300).describe('Freshness budget of market state.'),
  BUDGET_ORACLE_SEC: seconds.default(900).describe('Freshness budget of oracle values.'),
  BUDGET_ORACLE_FEED_SEC: seconds
    .default(90_000)
    .describe(
      'Maximum age of a feed behind an oracle when the catalog has no heartbeat for it; by default 24 hours and one hour of tolerance.',
    ),
  BUDGET_BORROW_HISTORY_SEC: seconds.default(3600).describe('Freshness budget of borrow-rate history.'),
  BUDGET_YIELDMARKET_SEC: seconds.default(1800).describe('Freshness budget of yield-market APYs.'),
  BUDGET_SLOW_APY_SEC: seconds
    .default(43_200)
    .describe('Freshness budget of the APYs of stable index, incentive market and chain.'),
  BUDGET_DAILY_APY_SEC: seconds
    .default(172_800)
    .describe(
      'Freshness budget of APYs that their source publishes once a day with a date (aggregator), and of daily histories.',
    ),
  BUDGET_INCENTIVES_SEC: seconds.default(3600).describe('Freshness budget of incentive campaigns.'),
  BUDGET_PRICES_SEC: seconds.default(900).describe('Freshness budget of token prices.'),
  BUDGET_EXIT_LIQUIDITY_SEC: seconds.default(86_400).describe('Freshness budget of the exit-liquidity sweep.'),
  BUDGET_DEPLOYMENT_SEC: seconds.default(900).describe('Freshness budget of the terms of the deployed contract.'),
  BUDGET_TVL_SEC: seconds.default(900).describe('Freshness budget of protocol TVL.'),
  BUDGET_OPS_PORTFOLIOS_SEC: seconds.default(60).describe('Freshness budget of the ops portfolios.'),
  READY_CEILING_SEC: seconds
    .default(900)
    .describe('/ready turns false when market state or oracle values exceed their freshness budget by this time.'),
} as const;

/** The configured budgets by group of facts, seconds. */
export function budgetsOf({
  env,
}: {
  readonly env: Readonly<Record<keyof typeof freshnessSettings, number>>;
}): FreshnessBudgets {
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

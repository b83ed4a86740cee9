import { seconds } from './numbers.ts';

/** How often each job runs. */
export const cadenceSettings = {
  REFRESH_LENDING_STATE_SEC: seconds.default(120).describe('Refresh cadence of market state and oracle values.'),
  REFRESH_BORROW_HISTORY_SEC: seconds.default(1800).describe('Refresh cadence of borrow-rate history.'),
  REFRESH_YIELDMARKET_SEC: seconds.default(1800).describe('Refresh cadence of yield-market APYs.'),
  REFRESH_ONCHAIN_APY_SEC: seconds.default(600).describe('Refresh cadence of on-chain rate accumulators.'),
  REFRESH_SLOW_APY_SEC: seconds
    .default(43_200)
    .describe('Refresh cadence of stable-index, aggregator and incentive-market APYs.'),
  REFRESH_INCENTIVES_SEC: seconds.default(1800).describe('Refresh cadence of incentive campaigns.'),
  REFRESH_PRICES_SEC: seconds.default(300).describe('Refresh cadence of token prices.'),
  REFRESH_PRICES_MIN_SEC: seconds
    .default(60)
    .describe(
      'Least time between two refreshes of prices that requests ask for with `maxAge`: they use the quota of the provider.',
    ),
  REFRESH_EXIT_LIQUIDITY_SEC: seconds.default(43_200).describe('Refresh cadence of the exit-liquidity sweep.'),
  REFRESH_DEPLOYMENT_SEC: seconds
    .default(300)
    .describe('Refresh cadence of the terms of the deployed contract: buffer, fees, pause, markets, venues.'),
  REFRESH_POSITION_HISTORY_SEC: seconds.default(15).describe('Cadence of reading the logs of positions.'),
  REFRESH_TVL_SEC: seconds.default(300).describe('Refresh cadence of protocol TVL.'),
} as const;

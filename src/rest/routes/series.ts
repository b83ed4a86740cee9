import { z } from 'zod';
import { chainIdOfStrategy, strategyIdParam } from '../schemas/common.ts';
import { windowParams, windowVariables } from '../schemas/window.ts';
import type { AnyRoute } from '../types.ts';
import { ofOne } from './histories.ts';
import { PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

const METRICS = ['borrow_apy', 'utilization', 'liquidity', 'collateral_price'] as const;

/** The row of the series of a market. */
export function seriesRoute({ chainIds, derive }: RouteOptions): AnyRoute {
  return derive({
    method: 'GET',
    path: '/v1/markets/{id}/series',
    surface: 'Public',
    summary: 'A metric of a market over time',
    description:
      'Own hourly samples, kept for 400 days, as means of buckets: `borrow_apy` and `utilization` in percent, `liquidity` in whole loan tokens, `collateral_price` (of the oracle) in loan tokens per collateral token. value is exact, ts is unix milliseconds. A bucket without a sample is left out. Of an equity vault the series of its stock market, which `marketId` names.',
    operation: 'MarketSeries',
    params: z.object({
      id: strategyIdParam,
      chainId: chainIdOfStrategy(chainIds),
      metric: z.enum(METRICS).describe('The metric.'),
      ...windowParams,
    }),
    variables: ({ params: { id, chainId, metric, ...window } }) => ({
      id,
      chainId,
      metric,
      ...windowVariables(window),
    }),
    check: ofOne.check,
    repeated: { ...ofOne.repeated, of: ({ params: { id } }) => ({ id }) },
    errors: [...PUBLIC_ERRORS, 'not_found', 'upstream_unavailable'],
    examples: [
      {
        summary: 'Utilization of sUSDe / PYUSD, by the day',
        params: { id: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5' },
        query: { metric: 'utilization' },
      },
      {
        summary: 'Its oracle price, by the hour of a day',
        params: { id: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5' },
        query: {
          metric: 'collateral_price',
          from: '2026-11-19T00:00:00Z',
          to: '2026-11-20T00:00:00Z',
          resolution: 'hour',
        },
      },
    ],
  });
}

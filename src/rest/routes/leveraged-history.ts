import { z } from 'zod';
import { chainIdOfStrategy, integerParam, strategyIdParam } from '../schemas/common.ts';
import type { AnyRoute } from '../types.ts';
import { HISTORY_PAGE, PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

/** Samples are kept this long; GraphQL has the same limit. */
const MAX_DAYS = 400;

/** As long as a leverage with 18 decimals. */
const LEVERAGE_PATTERN = /^\d{1,3}(\.\d{1,18})?$/;

/** The row of leveraged-APY histories. */
export function leveragedHistoryRoute({ chainIds, derive }: RouteOptions): AnyRoute {
  return derive({
    method: 'GET',
    path: '/v1/strategies/{id}/leveraged-apy-history',
    surface: 'Public',
    summary: 'Leveraged-APY history of one strategy',
    description:
      'One point per UTC day of the last `days` that have the rates of both sides, incentives of the day included. Of a loop collateral APY x L - net borrow APY x (L - 1); of an equity vault LTV x (leveraged APY of the yield leg at its safe LTV of today - net borrow APY of the stock leg). ts is unix milliseconds, apy an exact percentage. The mean of the points differs a little from historicalLeverageApyPct of the strategy, which levers the means of the two rates: each over all its days of the window, with the borrow rates of the indexer alone and the incentives weighted by time.',
    operation: 'LeveragedApyHistory',
    tool: { name: 'get_leveraged_apy_history', list: HISTORY_PAGE },
    params: z.object({
      id: strategyIdParam,
      chainId: chainIdOfStrategy(chainIds),
      leverage: z
        .string()
        .regex(
          LEVERAGE_PATTERN,
          'expected a decimal number from 1 to the maxLeverage of the strategy, with at most 18 decimals, e.g. 3.5',
        )
        .optional()
        .describe(
          'Leverage of all points, 1 to the largest of the strategy; of a vault 1 + LTV of the stock leg. The default leverage, or the target LTV, when left out.',
        ),
      days: integerParam({ min: 1, max: MAX_DAYS })
        .default(90)
        .describe(`UTC days up to the present one, which counts: 1 to ${MAX_DAYS}. Default 90.`),
    }),
    variables: ({ params }) => params,
    errors: [...PUBLIC_ERRORS, 'not_found', 'not_ready', 'upstream_unavailable'],
    examples: [
      {
        summary: 'sUSDe / PYUSD, three times',
        params: { id: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5' },
        query: { leverage: '3' },
      },
    ],
  });
}

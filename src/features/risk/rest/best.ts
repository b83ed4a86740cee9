import { z } from 'zod';
import { PUBLIC_ERRORS, type RouteOptions } from '../../../rest/routes/shared.ts';
import { integerParam } from '../../../rest/schemas/common.ts';
import type { AnyRoute } from '../../../rest/types.ts';
import { ADDRESS_PATTERN } from '../../../shared/ids.ts';

const decimal = (description: string) =>
  z
    .string()
    .regex(
      /^\d{1,13}(\.\d{1,18})?$/,
      'expected a plain decimal number such as 1250.5: at most 13 digits before the point and 18 after it',
    )
    .describe(description);
const whole = (description: string, max: number) => integerParam({ min: 1, max }).optional().describe(description);

/** The row that ranks strategies for a payment. */
export function bestRoute({ chainIds, derive }: RouteOptions): AnyRoute {
  return derive({
    method: 'GET',
    path: '/v1/best-strategies',
    surface: 'Public',
    summary: 'The best strategies for a payment',
    description:
      'Listed loops, each at the leverage with the best result of those that survive a fall of the price, by the net APY after the own borrow, entry and exit over the holding time; and the reason for each strategy that was left out. Costs are those of the measured exit liquidity; no venue is asked.',
    operation: 'BestStrategyRanking',
    tool: { name: 'find_best_strategies', defaults: { limit: 5 } },
    params: z.object({
      amount: decimal('Payment, whole tokens of payToken. Worth at least 1 USD.'),
      payToken: z
        .string()
        .regex(ADDRESS_PATTERN, 'expected an address: 0x followed by 40 hex characters')
        .describe('Curated token that is paid with.'),
      maxDrawdownPct: decimal(
        "Fall of the oracle's price that must not liquidate the position at any time until the exit, percent. From 0 to 99.",
      ),
      minExitUsd: decimal('Size of a sale of the collateral that has to be clean, USD. 0 or more.'),
      holdingDays: whole('Days until the exit, 1 to 3650; 90 when left out.', 3_650),
      chainId: z
        .enum(chainIds.map(String))
        .transform(Number)
        .optional()
        .meta({ type: 'integer', enum: [...chainIds], description: 'Chain id; all chains when left out.' }),
      limit: whole('Number of entries of each list, 1 to 100; 20 when left out.', 100),
    }),
    variables: ({ params: { chainId, ...params } }) =>
      chainId === undefined ? params : { ...params, chainIds: [chainId] },
    errors: [...PUBLIC_ERRORS, 'not_ready'],
    examples: [
      {
        summary: '25,000 USDC that survive a fall of 5 %',
        query: {
          amount: '25000',
          payToken: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
          maxDrawdownPct: '5',
          minExitUsd: '100000',
        },
      },
    ],
  });
}

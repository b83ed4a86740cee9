import { z } from 'zod';
import { PARTNER_ERRORS, PUBLIC_ERRORS, type RouteOptions } from '../../../rest/routes/shared.ts';
import { addressParam, chainIdOfStrategy, chainIdParam, strategyIdParam } from '../../../rest/schemas/common.ts';
import type { AnyRoute } from '../../../rest/types.ts';

/** As long as a decimal with 18 places. */
const LEVERAGE_PATTERN = /^\d{1,3}(\.\d{1,18})?$/;
const USD_PATTERN = /^\d{1,13}(\.\d{1,18})?$/;

/** The rows of stress tables. */
export function stressRoutes({ chainIds, derive }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  return [
    derive({
      method: 'GET',
      path: '/v1/strategies/{id}/stress',
      surface: 'Public',
      summary: 'Stress table of a strategy',
      description:
        'Outcomes of a deposit opened now at a leverage, at the borrow rate that its own debt leads to and without the costs of entry: LTV, headroom, equity and net APY per scenario, the end of the position, and the time to its limits. Of an equity vault both legs together.',
      operation: 'StrategyStress',
      tool: { name: 'stress_strategy' },
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
            'Leverage, a multiple of the equity: 1 to the largest of the strategy; of a vault 1 + LTV of the stock leg. The default leverage, or the target LTV, when left out.',
          ),
        equityUsd: z
          .string()
          .regex(
            USD_PATTERN,
            'expected a plain decimal number of USD, at most 13 digits before and 18 after the point, e.g. 25000',
          )
          .optional()
          .describe('USD that are paid in, above 0; 10000 when left out. The size decides on rate and exit.'),
      }),
      variables: ({ params }) => params,
      errors: [...PUBLIC_ERRORS, 'not_found', 'not_ready'],
      examples: [
        {
          summary: 'sUSDe / PYUSD, five times',
          params: { id: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5' },
          query: { leverage: '5', equityUsd: '25000' },
        },
      ],
    }),
    derive({
      method: 'GET',
      path: '/v1/partner/positions/{address}/stress',
      surface: 'Partner',
      summary: "Stress tables of a wallet's positions",
      description:
        'Outcomes of all open positions and vaults of a wallet together, every scenario on all of them at once, and of each of them; read live from the chain.',
      operation: 'WalletStress',
      tool: { name: 'stress_positions', list: { fields: ['positions', 'equityPositions'], limit: 1 } },
      params: z.object({ address: addressParam, chainId: chainIdParam({ chainIds, defaultChainId }) }),
      variables: ({ params }) => params,
      errors: [...PARTNER_ERRORS, 'not_ready', 'upstream_unavailable'],
      examples: [
        {
          summary: 'Ethereum, the default',
          params: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
        },
        {
          summary: 'Robinhood Chain, with an equity vault',
          params: { address: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc' },
          query: { chainId: '4663' },
        },
      ],
    }),
  ];
}

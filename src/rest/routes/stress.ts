import { z } from 'zod';
import { absenceOf } from '../absence.ts';
import type { StrategyStressQuery, StressFieldsFragment, WalletStressQuery } from '../generated/operations.ts';
import { addressParam, chainIdOfStrategy, chainIdParam, freshnessValue, strategyIdParam } from '../schemas/common.ts';
import {
  recordedMoveSchema,
  strategyStress,
  stressRowSchema,
  stressTableSchema,
  walletStress,
} from '../schemas/stress.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { answered, noneIn, PARTNER_ERRORS, PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

const inTable = absenceOf(stressTableSchema);
const inRow = absenceOf(stressRowSchema);
const inMove = absenceOf(recordedMoveSchema);
const ageOf = (age: object) => absenceOf(freshnessValue)(age, () => false);

/** As long as a decimal with 18 places. */
const LEVERAGE_PATTERN = /^\d{1,3}(\.\d{1,18})?$/;
const USD_PATTERN = /^\d{1,13}(\.\d{1,18})?$/;

/** Project a table: an unknown value is absent, a value that does not apply is null. The gaps of row i have paths that begin with `rows.i.`. */
function projectStress({ rows, recordedMoves, gaps, ...table }: StressFieldsFragment): object {
  const isNone = noneIn(gaps);
  const body = inTable({ ...table, rows: [], recordedMoves: [] }, isNone) as object;
  return {
    ...body,
    rows: rows.map((row, i) => inRow(row, (path) => isNone(`rows.${i}.${path}`))),
    recordedMoves: recordedMoves.map(({ gaps: ofMove, ...move }) => inMove(move, noneIn(ofMove))),
  };
}

/** The rows of stress tables. */
export function stressRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  return [
    defineRoute({
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
      project: ({ strategy }: StrategyStressQuery) => {
        const { id, freshness, stress } = answered(strategy);
        const { borrow, oracle } = freshness;
        return { id, freshness: { borrow: ageOf(borrow), oracle: ageOf(oracle) }, stress: projectStress(stress) };
      },
      response: strategyStress,
      errors: [...PUBLIC_ERRORS, 'not_found', 'not_ready'],
      examples: [
        {
          summary: 'sUSDe / PYUSD, five times',
          params: { id: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5' },
          query: { leverage: '5', equityUsd: '25000' },
        },
      ],
    }),
    defineRoute({
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
      project: ({ wallet }: WalletStressQuery) => {
        const { userAddress, onChains, stress, positions, equityPositions } = answered(wallet);
        const { chainId, readAt } = answered(onChains[0] ?? null);
        return {
          chainId,
          readAt,
          userAddress,
          stress: projectStress(stress),
          positions: positions.nodes.map((held) => ({ ...held, stress: projectStress(held.stress) })),
          equityPositions: equityPositions.map((held) => ({ ...held, stress: projectStress(held.stress) })),
        };
      },
      response: walletStress,
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

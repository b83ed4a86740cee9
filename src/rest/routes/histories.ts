import { z } from 'zod';
import { BadRequestError } from '../../shared/errors.ts';
import { STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import { chainIdChoice, chainIdOfStrategy, strategyIdParam } from '../schemas/common.ts';
import type { AnyRoute, Beside } from '../types.ts';
import { HISTORY_PAGE, PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

const chainsOf = ({ params }: { readonly params: { readonly chainId?: number | undefined } }) =>
  params.chainId === undefined ? {} : { chainIds: [params.chainId] };
const EXAMPLE_ID = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const ONE_ERRORS = [...PUBLIC_ERRORS, 'not_found', 'upstream_unavailable'] as const;
const ALL_ERRORS = [...PUBLIC_ERRORS, 'upstream_unavailable'] as const;

interface OneParams {
  readonly id: string;
  readonly chainId?: number | undefined;
}

/** What a row of one id adds to its history. */
export const ofOne = {
  /** An id names its chain. @throws BadRequestError when another one was asked for */
  check: (history, { params: { chainId } }) => {
    if (history === null || chainId === undefined || chainId === history.chainId) return;
    throw new BadRequestError(
      `The requested chains contradict the id ${history.marketId}, which is on chain ${history.chainId}. Send chain ${history.chainId}, or none.`,
      { field: 'query.chainId', value: String(chainId), limit: { oneOf: [Number(history.chainId)] } },
    );
  },
  repeated: {
    schema: z.object({
      id: z.string().regex(STRATEGY_ID_PATTERN).describe('The id that was asked: of a market or of an equity vault.'),
    }),
    of: ({ params: { id } }, { marketId }) => ({
      id,
      marketId: marketId === id ? undefined : marketId,
      chainId: undefined,
    }),
  },
} satisfies Beside<OneParams, undefined>;

export function historyRoutes({ chainIds, derive }: RouteOptions): AnyRoute[] {
  const ofChain = z.object({
    chainId: chainIdChoice(chainIds)
      .optional()
      .describe('Chain id; limits the answer to markets of this chain. All chains when left out.'),
  });
  const byId = z.object({ id: strategyIdParam, chainId: chainIdOfStrategy(chainIds) });
  return [
    derive({
      method: 'GET',
      path: '/v1/markets/borrow-apy-history',
      surface: 'Public',
      summary: 'Borrow-APY history of all markets',
      description: 'Our own samples; the indexer fills days without samples. x is unix seconds, y a fraction.',
      operation: 'BorrowApyHistories',
      params: ofChain,
      variables: chainsOf,
      errors: ALL_ERRORS,
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    derive({
      method: 'GET',
      path: '/v1/markets/{id}/borrow-apy-history',
      surface: 'Public',
      summary: 'Borrow-APY history of one market',
      description:
        'Our own samples; the indexer fills days without samples. x is unix seconds, y a fraction. Of an equity vault the history of its stock market, which `marketId` names.',
      operation: 'BorrowApyHistory',
      tool: { name: 'get_borrow_apy_history', list: HISTORY_PAGE },
      params: byId,
      variables: ({ params: { id } }) => ({ id }),
      ...ofOne,
      errors: ONE_ERRORS,
      examples: [{ summary: 'sUSDe / PYUSD', params: { id: EXAMPLE_ID } }],
    }),
    derive({
      method: 'GET',
      path: '/v1/collateral/apy-history',
      surface: 'Public',
      summary: 'Collateral-APY history of all markets',
      description: 'Keyed by market id. ts is unix milliseconds, apy is in percent.',
      operation: 'CollateralApyHistories',
      params: ofChain,
      variables: chainsOf,
      errors: ALL_ERRORS,
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    derive({
      method: 'GET',
      path: '/v1/collateral/{id}/apy-history',
      surface: 'Public',
      summary: 'Collateral-APY history of one market',
      description:
        'ts is unix milliseconds, apy is in percent. Of an equity vault the history of the market of its yield leg, which `marketId` names.',
      operation: 'CollateralApyHistory',
      tool: { name: 'get_collateral_apy_history', list: HISTORY_PAGE },
      params: byId,
      variables: ({ params: { id } }) => ({ id }),
      ...ofOne,
      errors: ONE_ERRORS,
      examples: [{ summary: 'sUSDe / PYUSD', params: { id: EXAMPLE_ID } }],
    }),
    derive({
      method: 'GET',
      path: '/v1/markets/{id}/incentive-history',
      surface: 'Public',
      summary: 'Borrow-incentive APR history of one market',
      description:
        'A step function: each point holds until the next. ts is unix milliseconds, apr is in percent. Of an equity vault the history of its stock market, which `marketId` names.',
      operation: 'IncentiveHistory',
      tool: { name: 'get_incentive_history', list: HISTORY_PAGE },
      params: byId,
      variables: ({ params: { id } }) => ({ id }),
      ...ofOne,
      errors: ONE_ERRORS,
      examples: [{ summary: 'sUSDe / PYUSD', params: { id: EXAMPLE_ID } }],
    }),
  ];
}

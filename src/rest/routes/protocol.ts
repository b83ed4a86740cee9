import { z } from 'zod';
import { chainIdChoice } from '../schemas/common.ts';
import { windowParams, windowVariables } from '../schemas/window.ts';
import type { AnyRoute } from '../types.ts';
import { PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

export function protocolRoutes({ chainIds, derive }: RouteOptions): AnyRoute[] {
  return [
    derive({
      method: 'GET',
      path: '/v1/stable-apy',
      surface: 'Public',
      summary: 'Stablecoin yield index',
      description:
        'Snapshot and history of the index. Independent of readiness: the last good list, or an empty one, with a stale flag.',
      operation: 'StableApy',
      tool: {
        name: 'list_stable_yields',
        list: { fields: ['stableApy'], limit: 10 },
        brief: 'StableYields',
      },
      params: z.object({}),
      variables: () => ({}),
      errors: PUBLIC_ERRORS,
      examples: [{ summary: 'The whole index' }],
    }),
    derive({
      method: 'GET',
      path: '/v1/tvl',
      surface: 'Public',
      summary: 'Protocol TVL',
      description:
        'Every open position of every wallet, in USD with 2 decimals. Chains that are not computed yet are left out and named in leftOut; 503 until the first is computed.',
      operation: 'Tvl',
      tool: { name: 'get_tvl' },
      params: z.object({}),
      variables: () => ({}),
      errors: [...PUBLIC_ERRORS, 'not_ready'],
      examples: [{ summary: 'All chains' }],
    }),
    derive({
      method: 'GET',
      path: '/v1/tvl/history',
      surface: 'Public',
      summary: 'Protocol TVL over time',
      description:
        'Own hourly samples, kept for 400 days, as means of buckets, exact USD with 2 places. Chains are added at times that all of them have: a bucket in which one has no sample is left out.',
      operation: 'TvlHistory',
      params: z.object({
        chainId: chainIdChoice(chainIds)
          .optional()
          .describe('Chain id; only this chain. All chains together when left out.'),
        ...windowParams,
      }),
      variables: ({ params: { chainId, ...window } }) => ({
        ...(chainId === undefined ? {} : { chainIds: [chainId] }),
        ...windowVariables(window),
      }),
      errors: [...PUBLIC_ERRORS, 'upstream_unavailable'],
      examples: [{ summary: 'All chains' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
  ];
}

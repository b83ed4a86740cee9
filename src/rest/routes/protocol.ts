import { z } from 'zod';
import type { AnyRoute } from '../types.ts';
import { PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

export function protocolRoutes({ derive }: RouteOptions): AnyRoute[] {
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
  ];
}

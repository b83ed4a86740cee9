import { z } from 'zod';
import { chainIdOfStrategy, chainIdParam, strategyIdParam } from '../schemas/common.ts';
import { maxAgeParam } from '../schemas/fresh-reads.ts';
import { chainIdNumber } from '../schemas/numbers.ts';
import type { AnyRoute } from '../types.ts';
import { PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

export function strategyRoutes({ chainIds, derive }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  return [
    derive({
      method: 'GET',
      path: '/v1/strategies',
      surface: 'Public',
      summary: 'List the strategies of a chain',
      description:
        'Every listed leverage strategy of one chain, equity vaults included. Numbers are composed from warm caches; a value past its budget is served with its age under `freshness`.',
      operation: 'Strategies',
      tool: {
        name: 'list_strategies',
        list: { fields: ['strategies'], limit: 10 },
        brief: 'StrategyBriefs',
      },
      params: z.object({ chainId: chainIdParam({ chainIds, defaultChainId }), ...maxAgeParam }),
      variables: ({ params }) => params,
      repeated: {
        schema: z.object({ chainId: chainIdNumber() }),
        of: ({ params: { chainId } }) => ({ chainId }),
        after: 'asOf',
      },
      errors: [...PUBLIC_ERRORS, 'not_ready'],
      examples: [{ summary: 'Ethereum, the default' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    derive({
      method: 'GET',
      path: '/v1/strategies/{id}',
      surface: 'Public',
      summary: 'Read one strategy',
      description:
        'One strategy of any chain, listed or not: by its market id, or by the id of an equity vault from the list.',
      operation: 'StrategyById',
      tool: { name: 'get_strategy' },
      params: z.object({ id: strategyIdParam, chainId: chainIdOfStrategy(chainIds), ...maxAgeParam }),
      variables: ({ params }) => params,
      errors: [...PUBLIC_ERRORS, 'not_found', 'not_ready'],
      examples: [
        {
          summary: 'sUSDe / PYUSD',
          params: { id: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5' },
        },
      ],
    }),
  ];
}

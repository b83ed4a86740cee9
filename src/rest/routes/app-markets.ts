import { z } from 'zod';
import { chainIdChoice } from '../schemas/common.ts';
import { maxAgeParam } from '../schemas/fresh-reads.ts';
import type { AnyRoute } from '../types.ts';
import { PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

export function appMarketRoutes({ chainIds, derive }: RouteOptions): AnyRoute[] {
  return [
    derive({
      method: 'GET',
      path: '/v1/app/markets',
      surface: 'Public',
      summary: 'All markets at full precision',
      description:
        'The composed markets of all chains, or of one chain, listed or not. leftOut names the chains without any measurement; 503 if that is all chains. missing names unmeasured facts of the other chains. Big numbers are tagged: {"$bn": decimal string} and {"$bigint": integer string}.',
      operation: 'AppMarkets',
      tool: {
        name: 'list_markets',
        list: { fields: ['markets'], limit: 10 },
        brief: 'MarketBriefs',
      },
      params: z.object({
        chainId: chainIdChoice(chainIds)
          .optional()
          .describe('Chain id; limits the list to this chain. All chains when left out.'),
        ...maxAgeParam,
      }),
      variables: ({ params: { chainId, ...fresh } }) =>
        chainId === undefined ? fresh : { chainIds: [chainId], ...fresh },
      errors: [...PUBLIC_ERRORS, 'not_ready'],
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
  ];
}

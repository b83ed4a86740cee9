import { z } from 'zod';
import type { StrategiesQuery, StrategyBriefsQuery, StrategyByIdQuery } from '../generated/operations.ts';
import { chainIdOfStrategy, chainIdParam, strategyIdParam } from '../schemas/common.ts';
import { maxAgeParam } from '../schemas/fresh-reads.ts';
import { strategiesEnvelope, strategyBriefsEnvelope, strategySchema } from '../schemas/strategy.ts';
import { type AnyRoute, defineRoute, type RowInput } from '../types.ts';
import { answered, PUBLIC_ERRORS, type RouteOptions } from './shared.ts';
import { projectStrategy, projectStrategyBrief } from './strategy-row.ts';

type List = NonNullable<StrategiesQuery['strategies']>;

function projectList<S>(
  { asOf, nodes, missingFacts: [missing] }: Pick<List, 'asOf' | 'missingFacts'> & { readonly nodes: readonly S[] },
  { chainId }: { readonly chainId: number },
  project: (strategy: S) => unknown,
) {
  return {
    asOf,
    chainId,
    count: nodes.length,
    strategies: nodes.map(project),
    missing,
  };
}

export function strategyRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  return [
    defineRoute({
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
        brief: {
          operation: 'StrategyBriefs',
          project: ({ strategies: list }: StrategyBriefsQuery, { params }: RowInput<{ chainId: number }, unknown>) =>
            projectList(answered(list), params, projectStrategyBrief),
          response: strategyBriefsEnvelope,
        },
      },
      params: z.object({ chainId: chainIdParam({ chainIds, defaultChainId }), ...maxAgeParam }),
      variables: ({ params }) => params,
      project: ({ strategies: list }: StrategiesQuery, { params }) =>
        projectList(answered(list), params, projectStrategy),
      response: strategiesEnvelope,
      errors: [...PUBLIC_ERRORS, 'not_ready'],
      examples: [{ summary: 'Ethereum, the default' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    defineRoute({
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
      project: ({ strategy }: StrategyByIdQuery) => projectStrategy(answered(strategy)),
      response: strategySchema,
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

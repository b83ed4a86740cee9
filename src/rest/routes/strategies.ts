import { z } from 'zod';
import { NotFoundError } from '../../shared/errors.ts';
import { dropAbsent } from '../absence.ts';
import type { StrategiesQuery, StrategyByIdQuery } from '../generated/operations.ts';
import { chainIdParam, marketIdParam } from '../schemas/common.ts';
import { strategiesEnvelope, strategySchema } from '../schemas/strategy.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { assumedIn, noneIn, PUBLIC_ERRORS, type RouteOptions, toNumber } from './shared.ts';

type StrategyData = NonNullable<StrategyByIdQuery['strategy']>;

/** Project a strategy to the frozen contract: money as numbers, unmeasured fields left out. */
export function projectStrategy(strategy: StrategyData): unknown {
  const { gaps, exitLiquidity, spiralHints, visibility, inputFreshness, ...rest } = strategy;
  const failed = visibility.checks.flatMap(({ name, passed }) => (passed ? [] : [name]));
  const tier = spiralHints?.exitLiquidityTier;
  const body = {
    ...rest,
    supplyUsd: toNumber(strategy.supplyUsd),
    liquidityUsd: toNumber(strategy.liquidityUsd),
    publicAllocatorLiquidityUsd: toNumber(strategy.publicAllocatorLiquidityUsd),
    pointsIncentive:
      strategy.pointsIncentive === null
        ? null
        : {
            program: strategy.pointsIncentive.program,
            perDayPerCollateralToken: Number(strategy.pointsIncentive.perDayPerCollateralToken),
          },
    spiralHints: spiralHints && {
      ...spiralHints,
      exitLiquidityTier: tier && {
        value: tier.value,
        thresholds: {
          listingMaxPct: Number(tier.thresholds.listingMaxPct),
          depthCleanMaxPct: Number(tier.thresholds.depthCleanMaxPct),
        },
      },
    },
    exitLiquidity: exitLiquidity.measured
      ? {
          ...exitLiquidity,
          slippagePct: Object.fromEntries(
            (exitLiquidity.slippagePct ?? []).map((row) => [row.sizeUsd, row.slippagePct]),
          ),
        }
      : { measured: false },
    inputFreshness: inputFreshness.prices || inputFreshness.incentives ? inputFreshness : null,
    listed: visibility.visible,
    notListedBecause: failed.length === 0 ? null : failed,
    deployment: strategy.deployment?.freshness ? strategy.deployment : null,
    gaps: assumedIn(gaps),
  };
  return dropAbsent(strategySchema, body, noneIn(gaps));
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
      params: z.object({ chainId: chainIdParam({ chainIds, defaultChainId }) }),
      variables: ({ params }) => ({ chainId: params.chainId }),
      project: (data: StrategiesQuery, { params }) => {
        const strategies = data.strategies.nodes.map(projectStrategy);
        const [missing] = data.strategies.missing;
        return {
          asOf: data.strategies.asOf,
          chainId: params.chainId,
          count: strategies.length,
          strategies,
          missing,
        };
      },
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
        'One strategy of any chain by its market id, listed or not. Equity vaults are read through GraphQL `strategy(id:)`.',
      operation: 'StrategyById',
      params: z.object({ id: marketIdParam }),
      variables: ({ params }) => ({ id: params.id }),
      project: (data: StrategyByIdQuery, { params }) => {
        if (data.strategy) return projectStrategy(data.strategy);
        throw new NotFoundError(`No strategy has the id ${params.id}. The ids are listed in /v1/strategies.`, {
          resource: 'strategy',
          id: params.id,
        });
      },
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

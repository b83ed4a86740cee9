import { z } from 'zod';
import type { StableApyQuery, StableYieldsQuery, TvlQuery } from '../generated/operations.ts';
import { stableApyEnvelope, stableYieldsEnvelope, tvlEnvelope } from '../schemas/reads.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { answered, PUBLIC_ERRORS, projectFreshness } from './shared.ts';

type Tvl = NonNullable<TvlQuery['tvl']>;

function projectTotals({ positionCount, userCount, ...usd }: Tvl['totals']) {
  return {
    tvlUsd: Number(usd.tvlUsd),
    grossTvlUsd: Number(usd.grossTvlUsd),
    borrowedUsd: Number(usd.borrowedUsd),
    badDebtUsd: usd.badDebtUsd === null ? undefined : Number(usd.badDebtUsd),
    divergentUsd: usd.divergentUsd === null ? undefined : Number(usd.divergentUsd),
    positions: positionCount,
    users: userCount,
  };
}

type Divergence = NonNullable<Tvl['chains'][number]['oracleDivergences']>[number];

function projectDivergence(divergence: Divergence) {
  return {
    marketId: divergence.marketId,
    oracle: divergence.oracleAddress,
    against: divergence.reference,
    oracleUsd: divergence.oracleUsd,
    referenceUsd: divergence.referenceUsd,
    divergencePct: divergence.divergencePct,
    grossTvlUsd: Number(divergence.grossTvlUsd),
    borrowedUsd: Number(divergence.borrowedUsd),
    positions: divergence.positionCount,
  };
}

function projectTvl({ freshness, missingChains, totals, chains }: Tvl) {
  return {
    ...projectFreshness(freshness),
    leftOut: missingChains.length === 0 ? undefined : missingChains,
    total: projectTotals(totals),
    chains: chains.map((chain) => ({
      chainId: chain.chainId,
      ...projectFreshness(chain.freshness),
      oracleDivergences: chain.oracleDivergences?.map(projectDivergence),
      ...projectTotals(chain.totals),
    })),
  };
}

type Pool = NonNullable<StableYieldsQuery['stableIndex']>['pools'][number];

function projectPool({ poolId, assetSymbol, avg7dApyPct }: Pool) {
  return { id: poolId, asset: assetSymbol, metrics: { apy: { avg7d: Number(avg7dApyPct) } } };
}

export function protocolRoutes(): AnyRoute[] {
  return [
    defineRoute({
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
        brief: {
          operation: 'StableYields',
          project: ({ stableIndex }: StableYieldsQuery) => {
            const { freshness, pools } = answered(stableIndex);
            return { ...projectFreshness(freshness), stableApy: pools.map(projectPool) };
          },
          response: stableYieldsEnvelope,
        },
      },
      params: z.object({}),
      variables: () => ({}),
      project: ({ stableIndex }: StableApyQuery) => {
        const { freshness, pools } = answered(stableIndex);
        return {
          ...projectFreshness(freshness),
          stableApy: pools.map(({ apyHistory, ...pool }) => ({
            ...projectPool(pool),
            history: apyHistory.map(({ at, ratePct }) => ({ timestamp: at, apy: Number(ratePct) })),
          })),
        };
      },
      response: stableApyEnvelope,
      errors: PUBLIC_ERRORS,
      examples: [{ summary: 'The whole index' }],
    }),
    defineRoute({
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
      project: ({ tvl }: TvlQuery) => projectTvl(answered(tvl)),
      response: tvlEnvelope,
      errors: [...PUBLIC_ERRORS, 'not_ready'],
      examples: [{ summary: 'All chains' }],
    }),
  ];
}

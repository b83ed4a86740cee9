import { z } from 'zod';
import type { StableApyQuery, StableYieldsQuery, TvlQuery } from '../generated/operations.ts';
import { stableApyEnvelope, stableYieldsEnvelope, tvlEnvelope } from '../schemas/reads.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { answered, PUBLIC_ERRORS, projectFreshness, toNumber } from './shared.ts';

type Tvl = NonNullable<TvlQuery['tvl']>;

/** The sums as numbers; one that is not known is left out. */
function projectTotals({ tvlUsd, grossTvlUsd, borrowedUsd, badDebtUsd, divergentUsd, positions, users }: Tvl['total']) {
  return {
    tvlUsd: Number(tvlUsd),
    grossTvlUsd: Number(grossTvlUsd),
    borrowedUsd: Number(borrowedUsd),
    badDebtUsd: toNumber(badDebtUsd) ?? undefined,
    divergentUsd: toNumber(divergentUsd) ?? undefined,
    positions,
    users,
  };
}

type Divergence = NonNullable<Tvl['chains'][number]['oracleDivergences']>[number];

function projectDivergence({ positions, ...divergence }: Divergence) {
  return {
    ...divergence,
    grossTvlUsd: Number(divergence.grossTvlUsd),
    borrowedUsd: Number(divergence.borrowedUsd),
    positions,
  };
}

function projectTvl({ freshness, missingChains, total, chains }: Tvl) {
  return {
    ...projectFreshness(freshness),
    leftOut: missingChains.length === 0 ? undefined : missingChains,
    total: projectTotals(total),
    chains: chains.map((chain) => ({
      chainId: chain.chainId,
      ...projectFreshness(chain.freshness),
      oracleDivergences: chain.oracleDivergences?.map(projectDivergence),
      ...projectTotals(chain),
    })),
  };
}

type Pool = NonNullable<StableYieldsQuery['stableIndex']>['pools'][number];

function projectPool({ id, asset, avg7dApyPct }: Pool) {
  return { id, asset, metrics: { apy: { avg7d: Number(avg7dApyPct) } } };
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
          stableApy: pools.map(({ history, ...pool }) => ({
            ...projectPool(pool),
            history: history.map(({ timestamp, apy }) => ({ timestamp, apy: Number(apy) })),
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

import { z } from 'zod';
import { NotReadyError } from '../../shared/errors.ts';
import type { StableApyQuery, TvlQuery } from '../generated/operations.ts';
import { stableApyEnvelope, tvlEnvelope } from '../schemas/reads.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { PUBLIC_ERRORS } from './shared.ts';

type Totals = NonNullable<TvlQuery['tvl']>['total'];

function projectTotals({ tvlUsd, grossTvlUsd, borrowedUsd, badDebtUsd, divergentUsd, positions, users }: Totals) {
  return {
    tvlUsd: Number(tvlUsd),
    grossTvlUsd: Number(grossTvlUsd),
    borrowedUsd: Number(borrowedUsd),
    badDebtUsd: badDebtUsd === null ? undefined : Number(badDebtUsd),
    divergentUsd: divergentUsd === null ? undefined : Number(divergentUsd),
    positions,
    users,
  };
}

type Divergence = NonNullable<NonNullable<TvlQuery['tvl']>['chains'][number]['oracleDivergences']>[number];

function projectDivergence({ grossTvlUsd, borrowedUsd, ...divergence }: Divergence) {
  return { ...divergence, grossTvlUsd: Number(grossTvlUsd), borrowedUsd: Number(borrowedUsd) };
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
      params: z.object({}),
      variables: () => ({}),
      project: ({ stableApy }: StableApyQuery) => ({
        asOf: stableApy.asOf,
        stale: stableApy.stale,
        stableApy: stableApy.items.map(({ id, asset, avg7dPct, history }) => ({
          id,
          asset,
          metrics: { apy: { avg7d: Number(avg7dPct) } },
          history: history.map(({ at, ratePct }) => ({ timestamp: at, apy: Number(ratePct) })),
        })),
      }),
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
      params: z.object({}),
      variables: () => ({}),
      project: ({ tvl }: TvlQuery) => {
        if (!tvl) throw new NotReadyError('TVL is not computed yet. Try again in a few seconds.', ['tvl']);
        return {
          asOf: tvl.asOf,
          stale: tvl.stale,
          leftOut: tvl.leftOut.length === 0 ? undefined : tvl.leftOut,
          total: projectTotals(tvl.total),
          chains: tvl.chains.map((chain) => ({
            chainId: chain.chainId,
            asOf: chain.asOf,
            stale: chain.stale,
            oracleDivergences: chain.oracleDivergences?.map(projectDivergence),
            ...projectTotals(chain),
          })),
        };
      },
      response: tvlEnvelope,
      errors: [...PUBLIC_ERRORS, 'not_ready'],
      examples: [{ summary: 'All chains' }],
    }),
  ];
}

import type { Chain } from '../catalog/types.ts';
import type { CollateralApy, FailureReason, StableIndexPool } from '../domain/facts.ts';
import { MAX_POOL_POINTS } from '../shared/contract/list-bounds.ts';
import { resolvePool } from '../upstreams/stablewatch/map.ts';
import type { StableIndexPools, StableIndexPort } from '../upstreams/types.ts';
import { type CollateralApyDeps, createOwnApys, doubtRate, keepHistory, tokensWithSource } from './collateral-apy.ts';
import { type RefreshAnswer, refreshGroup, sumReports } from './refresh.ts';
import { continueSeries } from './series.ts';
import type { Warmer } from './types.ts';

const SOURCE = 'stableindex';

/**
 * Create the warmer of the stablecoin index. One request of all pools feeds the list of every chain and the APY of the tokens
 * that use it. A pool that is no longer listed fails as missing and stays at last-good.
 */
export function createStableIndexWarmer(
  deps: CollateralApyDeps,
  chains: readonly Chain[],
  port: StableIndexPort,
  everySec: number,
): Warmer {
  return {
    name: 'stable-index',
    groups: ['stableIndex', 'collateralApy'],
    everySec,
    phase: 1,
    run: async (signal) => {
      const fetched = port.pools(() => true, { signal });
      const settled = await Promise.allSettled(chains.flatMap((chain) => publish(chain, fetched, signal)));
      const rejected = settled.find((result) => result.status === 'rejected');
      if (rejected) throw rejected.reason;
      return sumReports(settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
    },
  };

  function publish(chain: Chain, fetched: Promise<StableIndexPools>, signal: AbortSignal) {
    const { chainId } = chain;
    const common = { chainId, source: SOURCE, signal, everySec } as const;
    const list = async () => {
      const known = [...deps.snapshot.facts(chainId).groups.stableIndex.items.keys()];
      const listed = await fetched.then(
        ({ values, failures }) => [...values.keys(), ...failures.keys()],
        () => [],
      );
      const keys = [...new Set([...known, ...listed])];
      return refreshGroup(deps, {
        ...common,
        group: 'stableIndex',
        keys,
        ask: () => fetched,
        doubt: doubtPool,
        combine: continuePool,
      });
    };
    const tokens = tokensWithSource(chain, SOURCE);
    const own = createOwnApys(deps, chainId);
    const apys = async () => {
      const recorded = await own.read();
      const report = await refreshGroup(deps, {
        ...common,
        group: 'collateralApy',
        keys: tokens.map((token) => token.address),
        ask: async () => apysOf(tokens, await fetched),
        doubt: (fresh, lastGood, key) => doubtRate(fresh, lastGood, recorded.get(key)),
        combine: (fresh, lastGood, key) => keepHistory(fresh, lastGood, recorded.get(key)),
      });
      await own.record(tokens.map((token) => token.address));
      return report;
    };
    return tokens.length === 0 ? [list()] : [list(), apys()];
  }
}

/** Confirmation rule of the tokens that use the index. */
function doubtPool(fresh: StableIndexPool, lastGood: StableIndexPool | undefined) {
  const known = lastGood && { apyPct: lastGood.avg7dPct };
  return doubtRate({ apyPct: fresh.avg7dPct, history: fresh.history }, known);
}

/** Take the fresh 7-day average and merge the fresh history into the known one. */
function continuePool(fresh: StableIndexPool, lastGood: StableIndexPool | undefined): StableIndexPool {
  return {
    ...fresh,
    history: continueSeries(fresh.history, lastGood?.history ?? fresh.history).slice(-MAX_POOL_POINTS),
  };
}

/**
 * Match tokens to all listed pools: the 7-day average is the APY. A token fails with the reason of its pool, and is not matched
 * to the remaining one of two pools when the other fails.
 */
function apysOf(
  tokens: ReturnType<typeof tokensWithSource>,
  { values, failures, failedAssets }: StableIndexPools,
): RefreshAnswer<CollateralApy> {
  const listed = [
    ...[...values.values()].map(({ id, asset }) => ({ id, asset })),
    ...[...failures.keys()].map((id) => ({ id, asset: failedAssets?.get(id) ?? '' })),
  ];
  const apys = new Map<string, CollateralApy>();
  const failed = new Map<string, FailureReason>();
  for (const token of tokens) {
    const match = resolvePool(token, listed);
    const pool = match.ok ? values.get(match.pool.id) : undefined;
    if (!match.ok) failed.set(token.address, match.reason);
    else if (pool === undefined) failed.set(token.address, failures.get(match.pool.id) ?? 'missing');
    else {
      const history = pool.history.length === 0 ? undefined : pool.history;
      apys.set(token.address, { apyPct: pool.avg7dPct, history });
    }
  }
  return { values: apys, failures: failed };
}

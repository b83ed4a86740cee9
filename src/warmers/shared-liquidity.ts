import type { Chain } from '../catalog/types.ts';
import type { SharedLiquidity } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { LendingIndexerPort } from '../upstreams/types.ts';
import { type EmptinessRule, refreshGroup, type Snapshot } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface SharedLiquidityDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

export const INDEXER_SOURCE = 'indexer';

/** Nothing for any market, where there was something: the indexer withdrew the field, and no vault withdrew its funds. */
const EMPTINESS: EmptinessRule<SharedLiquidity> = {
  isEmpty: ({ sources }) => sources.length === 0,
  stillHolds: ({ sources }) => sources.length > 0,
};

/** Create the warmer of what the public allocator could bring to each market. Only for chains that have an allocator. */
export function createSharedLiquidityWarmer(
  deps: SharedLiquidityDeps,
  chain: Chain,
  port: LendingIndexerPort,
  everySec: number,
): Warmer {
  const keys = chain.markets.map((market) => market.id);
  return {
    name: `shared-liquidity:${chain.chainId}`,
    groups: ['sharedLiquidity'],
    everySec,
    phase: 1,
    run: (signal) =>
      refreshGroup(deps, {
        chainId: chain.chainId,
        group: 'sharedLiquidity',
        keys,
        source: INDEXER_SOURCE,
        signal,
        ask: () => port.sharedLiquidity(chain, keys, { signal }),
        emptiness: EMPTINESS,
      }),
  };
}

import type { Chain } from '../catalog/types.ts';
import type { SharedLiquidity } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { Batch, LendingIndexerPort } from '../upstreams/types.ts';
import { type EmptinessRule, refreshGroup, type Snapshot } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface SharedLiquidityDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

export const INDEXER_SOURCE = 'indexer';

/**
 * An empty answer for every market after a non-empty one means that the indexer dropped the field, not that the vaults
 * withdrew their funds.
 */
const EMPTINESS: EmptinessRule<SharedLiquidity> = {
  isEmpty: ({ sources }) => sources.length === 0,
  isStillValid: ({ sources }) => sources.length > 0,
};

/**
 * Create the warmer of the liquidity that the public allocator could move into each market. Only for chains with an allocator.
 */
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
        everySec,
        chainId: chain.chainId,
        group: 'sharedLiquidity',
        keys,
        source: INDEXER_SOURCE,
        signal,
        ask: async () => believed(await port.sharedLiquidity(chain, keys, { signal }), chain, deps.snapshot),
        emptiness: EMPTINESS,
      }),
  };
}

/** Tolerance for supply that the indexer has seen and our latest reading has not, percent. */
const GROWTH_PCT = 110n;
/** Maximum in whole loan tokens when the source market is not in the catalog: more than any market holds. */
const MAX_TOKENS = 100_000_000_000n;

/** Limit the indexer's amount to the supply of the source market, which the chain reading has more reliably. */
function believed(
  { values, failures }: Batch<SharedLiquidity>,
  chain: Chain,
  snapshot: Pick<Snapshot, 'facts'>,
): Batch<SharedLiquidity> {
  const { items } = snapshot.facts(chain.chainId).groups.lendingState;
  const isHeld = (decimals: number) => (source: SharedLiquidity['sources'][number]) => {
    const held = items.get(source.withdrawMarketId)?.value.totalSupplyAssets;
    const limit = held === undefined ? MAX_TOKENS * 10n ** BigInt(decimals) : (held * GROWTH_PCT) / 100n;
    return source.assets <= limit;
  };
  const implausible = chain.markets.flatMap(({ id, loan }) =>
    values.get(id)?.sources.every(isHeld(loan.decimals)) === false ? [id] : [],
  );
  if (implausible.length === 0) return { values, failures };
  const refused = new Set<string>(implausible);
  return {
    values: new Map([...values].filter(([id]) => !refused.has(id))),
    failures: new Map([...failures, ...implausible.map((id) => [id, 'implausible'] as const)]),
  };
}

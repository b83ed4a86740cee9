import type { Catalog } from '../catalog/types.ts';
import { TVL_KEY } from '../domain/facts.ts';
import { totalTvl } from '../domain/tvl/compose.ts';
import type { ChainTvl } from '../domain/tvl/types.ts';
import type { TvlSnapshot } from '../resolvers/common/services.ts';
import type { SnapshotReader } from '../snapshot/types.ts';

/** Read the latest TVL of all computed chains from the snapshot; `null` until there is one. */
export function createTvl({
  catalog,
  snapshot,
}: {
  readonly catalog: Catalog;
  readonly snapshot: Pick<SnapshotReader, 'facts'>;
}): () => TvlSnapshot | null {
  let cached: { readonly of: readonly ChainTvl[]; readonly sums: TvlSnapshot } | null = null;
  return () => {
    const chains = catalog.chainIds.flatMap((chainId) => {
      const fact = snapshot.facts(chainId).groups.tvl.items.get(TVL_KEY);
      return fact ? [fact.value] : [];
    });
    // The sum deduplicates wallets across chains, so it is computed once per measurement, not per request.
    if (cached?.of.length === chains.length && cached.of.every((chain, i) => chain === chains[i])) return cached.sums;
    const total = totalTvl(chains);
    if (!total) return null;
    cached = { of: chains, sums: { version: (cached?.sums.version ?? 0) + 1, total, chains } };
    return cached.sums;
  };
}

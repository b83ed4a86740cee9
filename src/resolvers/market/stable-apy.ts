import type { Fact, StableIndexPool } from '../../domain/facts.ts';
import type { Stamp } from '../../domain/freshness/types.ts';
import type { AppContext } from '../common/context.ts';
import { oldestStamp } from './tokens.ts';

export interface StableApyItem {
  readonly pool: StableIndexPool;
  readonly stamp: Stamp;
}

export interface StableApyList {
  /** Of the oldest pool; `null` when none is known. */
  readonly oldest: Stamp | null;
  readonly items: readonly StableApyItem[];
}

/** Read the stablecoin yield index. It is one for all chains: where two know a pool, the later measurement counts. */
export function readStableApy(ctx: AppContext): StableApyList {
  const latest = new Map<string, Fact<StableIndexPool>>();
  for (const chainId of ctx.services.catalog.chainIds) {
    for (const [id, fact] of ctx.loaders.facts(chainId).groups.stableIndex.items) {
      const known = latest.get(id);
      if (!known || known.asOfMs < fact.asOfMs) latest.set(id, fact);
    }
  }
  const staleAfterSec = ctx.services.budgets.stableIndex;
  const items = [...latest.values()].map((fact) => ({
    pool: fact.value,
    stamp: { asOfMs: fact.asOfMs, staleAfterSec },
  }));
  return { oldest: oldestStamp(items.map(({ stamp }) => stamp)), items };
}

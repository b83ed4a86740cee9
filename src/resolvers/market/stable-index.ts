import type { Fact, StableIndexPool } from '../../domain/facts.ts';
import { gapOfGroup } from '../../domain/freshness/gaps.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import { MAX_INDEX_POOLS } from '../../shared/contract/list-bounds.ts';
import type { AppContext } from '../common/context.ts';
import { oldestStamp } from './tokens.ts';

export interface StableIndexItem {
  readonly pool: StableIndexPool;
  readonly stamp: Stamp;
}

export interface StableIndex {
  /** Of the oldest pool; `null` when none is known. */
  readonly oldest: Stamp | null;
  readonly pools: readonly StableIndexItem[];
  readonly gaps: readonly Gap[];
}

/** Read the stablecoin yield index. It is one for all chains: where two know a pool, the later measurement counts. */
export function readStableIndex(ctx: AppContext): StableIndex {
  const latest = new Map<string, Fact<StableIndexPool>>();
  const groups = ctx.services.catalog.chainIds.map((chainId) => ctx.loaders.facts(chainId).groups.stableIndex);
  for (const { items } of groups) {
    for (const [id, fact] of items) {
      const known = latest.get(id);
      if (!known || known.asOfMs < fact.asOfMs) latest.set(id, fact);
    }
  }
  const staleAfterSec = ctx.services.budgets.stableIndex;
  const pools = latestOf([...latest.values()]).map((fact) => ({
    pool: fact.value,
    stamp: { asOfMs: fact.asOfMs, staleAfterSec },
  }));
  const [group] = groups;
  return {
    oldest: oldestStamp(pools.map(({ stamp }) => stamp)),
    pools,
    gaps: pools.length > 0 || !group ? [] : [gapOfGroup('freshness', group, [...group.failures.keys()][0] ?? '')],
  };
}

/** The whole list, or the latest measured pools of one that is too long. */
function latestOf(facts: readonly Fact<StableIndexPool>[]): readonly Fact<StableIndexPool>[] {
  if (facts.length <= MAX_INDEX_POOLS) return facts;
  return facts.toSorted((a, b) => b.asOfMs - a.asOfMs).slice(0, MAX_INDEX_POOLS);
}

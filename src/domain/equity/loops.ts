import type { MarketId, StrategyId } from '../../shared/ids.ts';

/**
 * How a vault's yield loops were identified: by registration, by a deposit basis that fits the debt, ambiguously, or not at
 * all.
 */
export type YieldLoopMatch = 'tagged' | 'basis' | 'ambiguous' | 'none';

/** A loop of the wallet that may belong to a vault. */
export interface CandidateLoop {
  readonly id: number;
  readonly marketId: MarketId;
  /** Deposit basis, loan base units. */
  readonly depositedAssets: bigint;
  /** Whether it holds more than dust. A liquidated loop fits no debt any more, but may be tagged. */
  readonly live: boolean;
}

/** An open vault: a stock leg that is more than dust. */
export interface OpenVault {
  readonly id: StrategyId;
  readonly yieldMarketId: MarketId;
  /** Debt of the stock leg in the base units that the loops borrow; `null` while it is not known. */
  readonly debt: bigint | null;
}

/** Registered loops: vault by position id. */
export type LoopTags = ReadonlyMap<number, { readonly vaultId: StrategyId; readonly marketId: MarketId }>;

export interface LoopMatch {
  readonly match: YieldLoopMatch;
  /** Ids of the vault's loops, ascending; empty unless tagged or matched by basis. */
  readonly loopIds: readonly number[];
  /** Ids that may be its loops, ascending; empty unless ambiguous. */
  readonly candidateIds: readonly number[];
}

/** Bounds of basis over debt in percent: above the first, at most the second. */
const MIN_BASIS_PCT = 85n;
const MAX_BASIS_PCT = 102n;
/** Up to this many loops all 4,096 combinations are tried; with more loops the match is ambiguous. */
export const MAX_TRIED_LOOPS = 12;

const NONE: LoopMatch = { match: 'none', loopIds: [], candidateIds: [] };

/**
 * Match loops to the open vaults of a wallet. A registered loop belongs to the vault that it was registered for. A vault
 * without registered loops gets the one combination of live loops in its yield market whose basis fits its debt. The match is
 * ambiguous with several combinations, a loop that fits two vaults, an unknown debt, or too many loops to try.
 */
export function matchYieldLoops(
  vaults: readonly OpenVault[],
  loops: readonly CandidateLoop[],
  tags: LoopTags,
): ReadonlyMap<StrategyId, LoopMatch> {
  const matches = new Map<StrategyId, LoopMatch>();
  const taken = new Set<number>();
  for (const vault of vaults) {
    const tagged = loops.filter(({ id, marketId }) => {
      const tag = tags.get(id);
      return tag?.vaultId === vault.id && tag.marketId === marketId;
    });
    if (tagged.length === 0) continue;
    for (const { id } of tagged) taken.add(id);
    matches.set(vault.id, { match: 'tagged', loopIds: ascending(tagged.map(({ id }) => id)), candidateIds: [] });
  }
  const free = loops.filter(({ id, live, depositedAssets }) => live && depositedAssets > 0n && !taken.has(id));
  const explained = vaults
    .filter(({ id }) => !matches.has(id))
    .map((vault) => ({
      vault,
      found: explanationsOf(
        vault,
        free.filter(({ marketId }) => marketId === vault.yieldMarketId),
      ),
    }));
  for (const { vault, found } of explained) {
    const contested = explained.some(
      (other) => other.vault !== vault && [...found.loopIds].some((id) => other.found.loopIds.has(id)),
    );
    matches.set(vault.id, verdictOf(found, contested));
  }
  return matches;
}

interface Explanations {
  /** Number of combinations that fit; 2 = two or more, or not tried. */
  readonly count: 0 | 1 | 2;
  /** All loops of the fitting combinations. */
  readonly loopIds: ReadonlySet<number>;
}

function verdictOf({ count, loopIds }: Explanations, contested: boolean): LoopMatch {
  if (count === 0) return NONE;
  const ids = ascending([...loopIds]);
  return count > 1 || contested
    ? { match: 'ambiguous', loopIds: [], candidateIds: ids }
    : { match: 'basis', loopIds: ids, candidateIds: [] };
}

/** Find the combinations whose basis lies within (0.85, 1.02] of the debt. */
function explanationsOf({ debt }: OpenVault, loops: readonly CandidateLoop[]): Explanations {
  if (debt === 0n || loops.length === 0) return { count: 0, loopIds: new Set() };
  if (debt === null) return { count: 2, loopIds: new Set(loops.map(({ id }) => id)) };
  const least = debt * MIN_BASIS_PCT;
  const most = debt * MAX_BASIS_PCT;
  const small = loops.filter(({ depositedAssets }) => depositedAssets * 100n <= most);
  const total = small.reduce((sum, { depositedAssets }) => sum + depositedAssets * 100n, 0n);
  if (total <= least) return { count: 0, loopIds: new Set() };
  if (small.length > MAX_TRIED_LOOPS) return { count: 2, loopIds: new Set(small.map(({ id }) => id)) };
  const loopIds = new Set<number>();
  let count = 0;
  const chosen: number[] = [];
  const walk = (index: number, sum: bigint, rest: bigint): void => {
    if (sum > most || sum + rest <= least) return;
    const loop = small[index];
    if (!loop) {
      count += 1;
      for (const id of chosen) loopIds.add(id);
      return;
    }
    const basis = loop.depositedAssets * 100n;
    chosen.push(loop.id);
    walk(index + 1, sum + basis, rest - basis);
    chosen.pop();
    walk(index + 1, sum, rest - basis);
  };
  walk(0, 0n, total);
  return { count: count > 1 ? 2 : count === 1 ? 1 : 0, loopIds };
}

function ascending(ids: readonly number[]): readonly number[] {
  return ids.toSorted((a, b) => a - b);
}

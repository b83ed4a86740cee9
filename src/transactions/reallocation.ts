import { MathLib } from '@morpho-org/blue-sdk';
import type { Address, MarketId } from '../shared/ids.ts';
import type { AllocatorSource } from './read/allocator.ts';
import type { Reallocation } from './types.ts';

export interface ReallocationPlan {
  readonly reallocations: readonly Reallocation[];
  /** Loan base units that are moved into the market. */
  readonly moved: bigint;
}

/** Share of the flash loan that is moved beyond the gap, so that a borrow before ours does not take the last unit. */
const MARGIN_DIVISOR = 100n;

/** Liquidity that all sources together could move now, each market's liquidity and each vault's inflow counted once. */
export function reallocatable(sources: readonly AllocatorSource[]): bigint {
  return draw(sources, 2n ** 255n).moved;
}

/**
 * Plan the amounts that vaults move, so that the market can lend `amountFlashLoan`: the cheapest vaults first, grouped by vault,
 * withdrawals by market id ascending as the public allocator requires. `undefined` = not even all of them suffice.
 */
export function planReallocation(
  sources: readonly AllocatorSource[],
  liquidity: bigint,
  amountFlashLoan: bigint,
): ReallocationPlan | undefined {
  const gap = MathLib.max(amountFlashLoan - liquidity, 1n);
  const plan = draw(sources, gap + amountFlashLoan / MARGIN_DIVISOR);
  return plan.moved < gap ? undefined : plan;
}

function draw(sources: readonly AllocatorSource[], wanted: bigint): ReallocationPlan {
  const left = new Map<MarketId, bigint>(sources.map(({ marketId, liquidity }) => [marketId, liquidity]));
  let missing = wanted;
  const reallocations: Reallocation[] = [];
  for (const group of byVault(sources)) {
    const [first] = group;
    if (!first || missing === 0n) break;
    let room = MathLib.min(first.maxIn, missing);
    const withdrawals: Reallocation['withdrawals'][number][] = [];
    for (const { marketId, market, movable } of group) {
      const amount = MathLib.min(movable, left.get(marketId) ?? 0n, room);
      if (amount === 0n) continue;
      withdrawals.push({ marketId, market, amount });
      left.set(marketId, (left.get(marketId) ?? 0n) - amount);
      room -= amount;
      missing -= amount;
    }
    if (withdrawals.length === 0) continue;
    withdrawals.sort((a, b) => (a.marketId < b.marketId ? -1 : 1));
    reallocations.push({ vault: first.vault, feeWei: first.feeWei, withdrawals });
  }
  return { reallocations, moved: wanted - missing };
}

/** Groups of one vault each, the lowest fee first, then the largest; inside, the largest source first. */
function byVault(sources: readonly AllocatorSource[]): AllocatorSource[][] {
  const groups = new Map<Address, AllocatorSource[]>();
  for (const source of sources) groups.set(source.vault, [...(groups.get(source.vault) ?? []), source]);
  const capacity = (group: readonly AllocatorSource[]) =>
    MathLib.min(
      group[0]?.maxIn ?? 0n,
      group.reduce((sum, { movable }) => sum + movable, 0n),
    );
  const bySize = (a: bigint, b: bigint) => (a < b ? 1 : a > b ? -1 : 0);
  return [...groups.values()]
    .map((group) => group.sort((a, b) => bySize(a.movable, b.movable)))
    .sort((a, b) => bySize(b[0]?.feeWei ?? 0n, a[0]?.feeWei ?? 0n) || bySize(capacity(a), capacity(b)));
}

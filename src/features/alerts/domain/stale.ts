import { isStale } from '../../../domain/freshness/stamp.ts';
import type { Gap, Stamp } from '../../../domain/freshness/types.ts';
import type { ComposedMarket, ExcludedMarket } from '../../../domain/market/types.ts';

/** Dependencies of an alert that may be stale: groups of facts, the reading of the wallet, and a strategy's place in the catalog. */
export const ALERT_STALE_GROUPS = [
  'lendingState',
  'oracle',
  'collateralApy',
  'price',
  'incentives',
  'deployment',
  'wallet',
  'catalog',
] as const;

/** Dependencies of conditions: groups of facts, the reading of the wallet, and the catalog that names the strategy. */
export type StaleGroup = (typeof ALERT_STALE_GROUPS)[number];

/** Stamps of what a part of a subject depends on; `undefined` = it was never measured. */
export type StampsOf = Readonly<Partial<Record<StaleGroup, readonly (Stamp | undefined)[]>>>;

/** Fields of a market that are computed with an assumed input while it is unknown, and the group of that input. */
const ASSUMED_INPUTS: Readonly<Record<string, StaleGroup>> = {
  collateralApyPct: 'collateralApy',
  effectiveCollateralApyPct: 'incentives',
  netBorrowApyPct: 'incentives',
  'ltvLimits.safePct': 'deployment',
  'fees.yieldFeePct': 'deployment',
};

const NO_GROUPS: readonly StaleGroup[] = [];
/** A market that was never composed waits for these. */
const MARKET_GROUPS: readonly StaleGroup[] = ['lendingState', 'oracle'];

/** List the groups that are past their budget, or were never measured. */
export function staleGroupsOf(stamps: StampsOf, nowMs: number): readonly StaleGroup[] {
  return ALERT_STALE_GROUPS.filter((group) => stamps[group]?.some((stamp) => !isFresh(stamp, nowMs)));
}

/** Whether a value was measured and is within its budget. */
export function isFresh(stamp: Stamp | undefined, nowMs: number): boolean {
  return stamp !== undefined && !isStale(stamp, nowMs);
}

/** List the groups that the values of positions on a market depend on and that are old, missing or assumed. */
export function staleGroupsOfMarket(market: ComposedMarket | undefined, nowMs: number): readonly StaleGroup[] {
  if (market === undefined) return MARKET_GROUPS;
  const { borrow, oracle, collateralApy, prices, incentives } = market.stamps;
  const stale = staleGroupsOf(
    {
      lendingState: [borrow],
      oracle: [oracle],
      // Without a source for the yield, its stamp is that of the market.
      collateralApy: market.collateralApySource === 'none' ? [] : [collateralApy],
      price: [prices],
      incentives: [incentives],
    },
    nowMs,
  );
  return [...stale, ...assumedGroupsOf(market.gaps)];
}

function assumedGroupsOf(gaps: readonly Gap[]): readonly StaleGroup[] {
  return gaps.flatMap(({ field, reason }) => {
    const group = ASSUMED_INPUTS[field];
    return group === undefined || reason === 'NONE' || reason === 'NOT_APPLICABLE' ? [] : [group];
  });
}

/** The groups that a strategy waits for before it can be composed; without one it has left the catalog. */
export function awaitedGroups(strategyId: string, excluded: readonly ExcludedMarket[]): readonly StaleGroup[] {
  const groups = excluded.find(({ marketId }) => marketId === strategyId)?.waitingFor.map(({ group }) => group) ?? [];
  const named = ALERT_STALE_GROUPS.filter((group) => groups.includes(group));
  return named.length === 0 ? ['catalog'] : named;
}

/** Each group once, in the order of the vocabulary. */
export function mergedGroups(groups: readonly StaleGroup[]): readonly StaleGroup[] {
  return groups.length === 0 ? NO_GROUPS : ALERT_STALE_GROUPS.filter((group) => groups.includes(group));
}

import type { CollateralApySource } from '../../catalog/schema.ts';
import type { Chain } from '../../catalog/types.ts';
import {
  type ChainFacts,
  FACT_GROUPS,
  type Fact,
  type FactGroup,
  type Failure,
  type FailureReason,
  type FreshnessBudgets,
} from '../facts.ts';

/**
 * `never`: nothing measured yet. `stale`: an item is past its budget. `failing`: fresh, but the latest refresh of some item
 * failed. A source that is not configured does not make a group failing.
 */
export type HealthStatus = 'fresh' | 'stale' | 'failing' | 'never';

export interface GroupHealth {
  readonly group: FactGroup;
  /** The APY source, in the collateral-APY group only: there each source has a budget and a row of its own. */
  readonly source?: CollateralApySource | undefined;
  readonly status: HealthStatus;
  readonly budgetSec: number;
  /** Measurement time of the oldest item; `null` without items. */
  readonly asOfMs: number | null;
  readonly ageSec: number | null;
  readonly lastAttemptMs: number | null;
  readonly lastSuccessMs: number | null;
  readonly items: number;
  /** Items that are served although their latest refresh failed. */
  readonly itemsAtLastGood: number;
  /** Number of requested items that were never measured, by reason. */
  readonly neverMeasured: Readonly<Partial<Record<FailureReason, number>>>;
}

/**
 * Compute the health of every group of a chain's facts at `nowMs`: one row per group that the chain has, and for the
 * collateral APY one per source.
 */
export function groupHealth(
  chain: Chain,
  facts: ChainFacts,
  budgets: FreshnessBudgets,
  nowMs: number,
): readonly GroupHealth[] {
  return FACT_GROUPS.flatMap((group) => {
    if (group === 'sharedLiquidity' && chain.contracts.publicAllocator === undefined) return [];
    if (group !== 'collateralApy') return [rowOf(facts, group, budgets[group], nowMs)];
    const sourceOf = new Map<string, CollateralApySource>(
      chain.tokens.map((token) => [token.address, token.apySource] as const),
    );
    const sources = new Set(chain.markets.map((market) => market.collateral.apySource));
    sources.delete('none');
    return [...sources].map((source) => ({
      ...rowOf(facts, group, budgets.collateralApy[source], nowMs, (key) => sourceOf.get(key) === source),
      source,
    }));
  });
}

function rowOf(
  facts: ChainFacts,
  group: FactGroup,
  budgetSec: number,
  nowMs: number,
  belongs?: (key: string) => boolean,
): GroupHealth {
  const state = facts.groups[group];
  const items: ReadonlyMap<string, Fact<unknown>> = state.items;
  const counts = countFailures(items, state.failures, belongs);
  let count = 0;
  let oldestMs: number | null = null;
  for (const [key, item] of items) {
    if (belongs && !belongs(key)) continue;
    count += 1;
    oldestMs = oldestMs === null ? item.asOfMs : Math.min(oldestMs, item.asOfMs);
  }
  // An empty group is as old as its last successful refresh. For the share of one source this is not known.
  const measuredMs = oldestMs ?? (counts.failing || belongs ? null : state.lastSuccessMs);
  return {
    group,
    status: statusOf(measuredMs, budgetSec, counts.failing, nowMs),
    budgetSec,
    asOfMs: oldestMs,
    ageSec: oldestMs === null ? null : Math.max(0, Math.floor((nowMs - oldestMs) / 1_000)),
    lastAttemptMs: state.lastAttemptMs,
    lastSuccessMs: state.lastSuccessMs,
    items: count,
    itemsAtLastGood: counts.atLastGood,
    neverMeasured: counts.neverMeasured,
  };
}

function statusOf(measuredMs: number | null, budgetSec: number, failing: boolean, nowMs: number): HealthStatus {
  if (measuredMs === null) return failing ? 'failing' : 'never';
  if (nowMs - measuredMs > budgetSec * 1_000) return 'stale';
  return failing ? 'failing' : 'fresh';
}

function countFailures(
  items: ReadonlyMap<string, unknown>,
  failures: ReadonlyMap<string, Failure>,
  belongs: ((key: string) => boolean) | undefined,
): { failing: boolean; atLastGood: number; neverMeasured: Partial<Record<FailureReason, number>> } {
  const neverMeasured: Partial<Record<FailureReason, number>> = {};
  let atLastGood = 0;
  let failing = false;
  for (const [key, failure] of failures) {
    if (belongs && !belongs(key)) continue;
    if (failure.reason !== 'not_configured') failing = true;
    if (items.has(key)) atLastGood += 1;
    else neverMeasured[failure.reason] = (neverMeasured[failure.reason] ?? 0) + 1;
  }
  return { failing, atLastGood, neverMeasured };
}

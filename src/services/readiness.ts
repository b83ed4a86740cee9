import type { Catalog, Chain } from '../catalog/types.ts';
import { type ChainFacts, FACT_GROUPS, type FactGroup, type FreshnessBudgets } from '../domain/facts.ts';
import type { ChainReadiness, HealthPort } from '../resolvers/common/services.ts';
import type { ChainId } from '../shared/ids.ts';
import { isFromFuture } from '../shared/observed.ts';
import type { SnapshotReader } from '../snapshot/types.ts';

export interface ReadinessDeps {
  readonly catalog: Catalog;
  readonly snapshot: SnapshotReader;
  readonly budgets: FreshnessBudgets;
  /** Excess over the freshness budget of a required group at which the chain is no longer ready, seconds. */
  readonly ceilingSec: number;
  readonly startedMs: number;
}

/** Maximum wait of a first start for optional groups, so that no source delays a process for longer. */
const FIRST_START_MS = 60_000;

/** Groups that every answer about a chain needs. */
const REQUIRED = ['lendingState', 'oracle'] as const;

/**
 * Compute whether a chain is open to reads, and whether it is ready. It opens once market state and oracle values were measured,
 * however long that takes, and every other group was tried, for which it waits a minute from the start at most; facts that were
 * restored count as tried, and groups still missing then are listed. It is ready from the same moment on, while the newest
 * measurement of market state and oracle values is not too far past its budget. One item that keeps failing does not make the
 * chain unready. A measurement from the future does not count.
 */
export function createReadiness({ catalog, snapshot, budgets, ceilingSec, startedMs }: ReadinessDeps): HealthPort {
  const opened = new Set<ChainId>();
  return {
    readiness(chainId: ChainId, nowMs: number): ChainReadiness {
      const chain = catalog.chain(chainId);
      if (!chain) return { primed: false, open: false, ready: false, waitingFor: [`chain ${chainId}`], missing: [] };
      const facts = snapshot.facts(chainId);
      const { groups } = facts;
      const unprimed: string[] = REQUIRED.filter((group) => groups[group].items.size === 0);
      const overdue = REQUIRED.filter((group) => {
        let newestMs = Number.NEGATIVE_INFINITY;
        for (const { asOfMs } of groups[group].items.values()) {
          if (!isFromFuture(asOfMs, nowMs)) newestMs = Math.max(newestMs, asOfMs);
        }
        return nowMs - newestMs > (budgets[group] + ceilingSec) * 1_000;
      });
      const missing = untried(chain, facts, nowMs);
      const isTried = missing.length === 0 || nowMs - startedMs >= FIRST_START_MS;
      const primed = unprimed.length === 0;
      if (primed && isTried) opened.add(chainId);
      const open = opened.has(chainId);
      const required: string[] = [...new Set([...unprimed, ...overdue])];
      // The others only delay the first answers, and are named once nothing else is missing.
      const waitingFor = required.length === 0 && !open ? [...missing] : required;
      return { primed, open, ready: waitingFor.length === 0, waitingFor, missing };
    },
  };
}

/** The groups that were not tried yet, or for collateral APYs not with every source. */
function untried(chain: Chain, facts: ChainFacts, nowMs: number): readonly FactGroup[] {
  const { items, failures } = facts.groups.collateralApy;
  const isOpen = chain.markets.some(({ collateral: { address, apySource, maturity } }) => {
    const earns = apySource !== 'none' && (maturity === undefined || maturity * 1_000 > nowMs);
    return earns && !items.has(address) && !failures.has(address);
  });
  return FACT_GROUPS.filter((group) => {
    if (group === 'sharedLiquidity' && chain.contracts.publicAllocator === undefined) return false;
    return group === 'collateralApy' ? isOpen : facts.groups[group].lastAttemptMs === null;
  });
}

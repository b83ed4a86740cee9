import type { Catalog } from '../catalog/types.ts';
import type { FreshnessBudgets } from '../domain/facts.ts';
import type { ChainReadiness, HealthPort } from '../resolvers/services.ts';
import type { ChainId } from '../shared/ids.ts';
import { isFromFuture } from '../shared/observed.ts';
import type { SnapshotReader } from '../snapshot/types.ts';

export interface ReadinessDeps {
  readonly catalog: Catalog;
  readonly snapshot: SnapshotReader;
  readonly budgets: FreshnessBudgets;
  /** How far past its budget a required group may be before the chain is not ready any more, seconds. */
  readonly ceilingSec: number;
}

/** Groups without which nothing of a chain can be shown. */
const REQUIRED = ['lendingState', 'oracle'] as const;

/**
 * Say whether a chain answers: primed once market state and oracle values were measured, ready while their newest
 * measurement is not too far past its budget. One item that keeps failing does not take the chain down. A measurement that
 * claims to be from the future is none.
 */
export function createReadiness({ catalog, snapshot, budgets, ceilingSec }: ReadinessDeps): HealthPort {
  return {
    readiness(chainId: ChainId, nowMs: number): ChainReadiness {
      if (!catalog.chain(chainId)) return { primed: false, ready: false, waitingFor: [`chain ${chainId}`] };
      const { groups } = snapshot.facts(chainId);
      const unprimed: string[] = REQUIRED.filter((group) => groups[group].items.size === 0);
      const overdue = REQUIRED.filter((group) => {
        let newestMs = Number.NEGATIVE_INFINITY;
        for (const { asOfMs } of groups[group].items.values()) {
          if (!isFromFuture(asOfMs, nowMs)) newestMs = Math.max(newestMs, asOfMs);
        }
        return nowMs - newestMs > (budgets[group] + ceilingSec) * 1_000;
      });
      const waitingFor = [...new Set([...unprimed, ...overdue])];
      return { primed: unprimed.length === 0, ready: waitingFor.length === 0, waitingFor };
    },
  };
}

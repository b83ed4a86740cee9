import type { Catalog } from '../catalog/types.ts';
import { type ComposeParams, composeChain } from '../domain/compose.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { SnapshotReader } from '../snapshot/types.ts';

export interface CompositionDeps {
  readonly catalog: Catalog;
  readonly snapshot: SnapshotReader;
  readonly clock: Clock;
  readonly params: Omit<ComposeParams, 'nowMs'>;
  /** Told of every call, for metrics. */
  readonly onLookup?: (hit: boolean) => void;
}

/**
 * Compose each chain once per version of its facts, when somebody first asks for it; the same object is handed out until
 * the next version, or until time alone changes what is composed (a maturity, the end of a campaign).
 */
export function createComposition({
  catalog,
  snapshot,
  clock,
  params,
  onLookup,
}: CompositionDeps): (chainId: ChainId) => ComposedChain {
  const kept = new Map<ChainId, ComposedChain>();
  return (chainId) => {
    const chain = catalog.chain(chainId);
    if (!chain) throw new Error(`chain ${chainId} is not in the catalog`);
    const facts = snapshot.facts(chainId);
    const previous = kept.get(chainId);
    const nowMs = clock.now();
    if (
      previous &&
      previous.version === facts.version &&
      nowMs < (previous.recomposeAtMs ?? Number.POSITIVE_INFINITY)
    ) {
      onLookup?.(true);
      return previous;
    }
    onLookup?.(false);
    const composed = composeChain(chain, facts, { ...params, nowMs });
    kept.set(chainId, composed);
    return composed;
  };
}

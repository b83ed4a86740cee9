import { type ChainFacts, emptyChainFacts, type FactGroup } from '../domain/facts.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import type { SnapshotListener, SnapshotReader } from './types.ts';

/** The facts in this process: one immutable reference per chain, and the listeners for the next one. */
export interface LocalFacts extends SnapshotReader {
  /** Set the next facts of a chain, then call every listener once per changed group. */
  set(facts: ChainFacts, changed: readonly FactGroup[]): void;
  chainIds(): readonly ChainId[];
}

/** Create the local copy of a store. An error of a listener is logged and does not affect the others. */
export function createLocalFacts({ logger }: { readonly logger: Logger }): LocalFacts {
  const chains = new Map<ChainId, ChainFacts>();
  const listeners = new Set<SnapshotListener>();
  const facts = (chainId: ChainId): ChainFacts => {
    const known = chains.get(chainId);
    if (known) return known;
    const empty = emptyChainFacts(chainId);
    chains.set(chainId, empty);
    return empty;
  };
  return {
    facts,
    chainIds: () => [...chains.keys()],
    set: (next, changed) => {
      chains.set(next.chainId, next);
      for (const group of changed) {
        for (const listener of [...listeners]) {
          try {
            listener(next, group);
          } catch (error) {
            logger.error({ error, chainId: next.chainId, group }, 'snapshot listener failed');
          }
        }
      }
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

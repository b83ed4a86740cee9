import type { Catalog, Chain, Market } from '../catalog/types.ts';
import { beginComposition, type ComposeParams, composeChain } from '../domain/compose.ts';
import type { ChainFacts, FactGroup } from '../domain/facts.ts';
import { contractFeesOf } from '../domain/market/fees.ts';
import { beginLookup } from '../domain/market/lookup.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { loggedError } from '../shared/scrub.ts';
import { inTurns, letOthersRun } from '../shared/turns.ts';
import type { SnapshotListener, SnapshotReader } from '../snapshot/types.ts';

export interface CompositionDeps {
  readonly catalog: Catalog;
  readonly snapshot: SnapshotReader;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly params: Omit<ComposeParams, 'nowMs'>;
  /** Called on every lookup, for metrics. */
  readonly onLookup?: ((hit: boolean) => void) | undefined;
}

export interface Composition {
  /**
   * The newest composed version of a chain: the same object until there is a newer one.
   * @throws the error of the composition of the newest facts
   */
  (chainId: ChainId): ComposedChain;
  /** Be called on every new version once it is composed, or cannot be: once per changed group. */
  subscribe(listener: SnapshotListener): () => void;
  /** Resolves once the facts that are the newest now are composed, or cannot be. */
  caughtUp(chainId: ChainId): Promise<void>;
  /** Resolves when no composition in pages is running. */
  settled(): Promise<void>;
}

/** Chains up to this size are composed at once, in a few milliseconds, by the first request that needs a version. */
const AT_ONCE_MARKETS = 100;

/**
 * Compose each chain once per version of its facts, and again when it changes with time alone (a maturity, the end of a
 * campaign). A small chain is composed on request, always from the newest facts: of several publishes in a row only the last
 * one costs a composition. The composition of a large one starts after every publish and is made in pages; until it is
 * finished the one before is returned, so that no request waits for it, and subscribers are told afterwards, so that they do
 * not miss it.
 */
export function createComposition(deps: CompositionDeps): Composition {
  const { catalog, snapshot, clock, onLookup } = deps;
  const composedChains = new Map<ChainId, ComposedChain>();
  const running = new Map<ChainId, Promise<void>>();
  const failed = new Map<ChainId, { readonly version: number; readonly error: unknown }>();
  /** Groups of large chains that were published and are not composed yet. */
  const published = new Map<ChainId, Set<FactGroup>>();
  /** Callers that wait for the next composition to begin, and then to be finished. */
  const waiting = createWaiters();
  const { tell, subscribe } = createListeners(deps.logger);

  const chainOf = (chainId: ChainId) => {
    const chain = catalog.chain(chainId);
    if (!chain) throw new Error(`chain ${chainId} is not in the catalog`);
    return chain;
  };
  const paramsOf = (chainId: ChainId): ComposeParams => ({
    ...deps.params,
    nowMs: clock.now(),
    previous: composedChains.get(chainId),
  });
  const current = (chainId: ChainId): ComposedChain | undefined => {
    const composed = composedChains.get(chainId);
    if (composed?.version !== snapshot.facts(chainId).version) return undefined;
    return clock.now() < (composed.recomposeAtMs ?? Number.POSITIVE_INFINITY) ? composed : undefined;
  };
  const composeNow = (chainId: ChainId): ComposedChain => {
    const made = composeChain(chainOf(chainId), snapshot.facts(chainId), paramsOf(chainId));
    composedChains.set(chainId, made);
    return made;
  };
  const failureOf = (chainId: ChainId) => {
    const failure = failed.get(chainId);
    return failure?.version === snapshot.facts(chainId).version ? failure : undefined;
  };
  const composeNewest = async (chainId: ChainId): Promise<void> => {
    const facts = snapshot.facts(chainId);
    const groups = published.get(chainId) ?? [];
    published.delete(chainId);
    const release = waiting.take(chainId);
    try {
      composedChains.set(chainId, await composeInPages(chainOf(chainId), facts, paramsOf(chainId)));
    } catch (error) {
      failed.set(chainId, { version: facts.version, error });
    }
    for (const group of groups) tell(facts, group);
    release();
  };
  const catchUp = async (chainId: ChainId): Promise<void> => {
    try {
      for (;;) {
        await letOthersRun();
        if (current(chainId) || failureOf(chainId)) return;
        await composeNewest(chainId);
      }
    } finally {
      // In the turn of the last look at the facts: a publish after it begins anew.
      running.delete(chainId);
      waiting.take(chainId)();
    }
  };
  const begin = (chainId: ChainId): void => {
    if (!running.has(chainId)) running.set(chainId, catchUp(chainId));
  };

  snapshot.subscribe((facts, group) => {
    const { chainId } = facts;
    const chain = catalog.chain(chainId);
    if (!chain || !isLarge(chain)) return tell(facts, group);
    published.set(chainId, (published.get(chainId) ?? new Set()).add(group));
    begin(chainId);
  });

  const composed = (chainId: ChainId): ComposedChain => {
    const chain = chainOf(chainId);
    const found = current(chainId);
    onLookup?.(found !== undefined);
    if (found) return found;
    if (!isLarge(chain)) return composeNow(chainId);
    const failure = failureOf(chainId);
    if (failure) throw failure.error;
    begin(chainId);
    return composedChains.get(chainId) ?? notYet(snapshot.facts(chainId), chain.markets, deps.params, clock.now());
  };
  return Object.assign(composed, {
    subscribe,
    async caughtUp(chainId: ChainId) {
      if (!isLarge(chainOf(chainId)) || current(chainId) || failureOf(chainId)) return;
      await new Promise<void>((resolve) => {
        waiting.add(chainId, resolve);
        begin(chainId);
      });
    },
    async settled() {
      while (running.size > 0) await Promise.all(running.values());
    },
  });
}

async function composeInPages(chain: Chain, facts: ChainFacts, params: ComposeParams): Promise<ComposedChain> {
  const composing = beginComposition(chain, facts, params);
  for await (const market of inTurns(chain.markets)) composing.add(market);
  return composing.finish();
}

function createWaiters() {
  const waiters = new Map<ChainId, (() => void)[]>();
  return {
    add: (chainId: ChainId, waiter: () => void) => void waiters.set(chainId, [...(waiters.get(chainId) ?? []), waiter]),
    /** Take all of a chain out; returns the function that calls them. */
    take: (chainId: ChainId): (() => void) => {
      const taken = waiters.get(chainId) ?? [];
      waiters.delete(chainId);
      return () => {
        for (const waiter of taken) waiter();
      };
    },
  };
}

function createListeners(logger: Logger) {
  const listeners = new Set<SnapshotListener>();
  return {
    /** Call every listener; an error of one does not affect the others. */
    tell: (facts: ChainFacts, group: FactGroup): void => {
      for (const listener of [...listeners]) {
        try {
          listener(facts, group);
        } catch (error) {
          logger.error({ err: loggedError(error), chainId: facts.chainId, group }, 'snapshot listener failed');
        }
      }
    },
    subscribe: (listener: SnapshotListener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const isLarge = ({ markets }: Chain) => markets.length > AT_ONCE_MARKETS;

/** The composition of a chain before the first one is finished: everything is excluded as not measured yet. */
function notYet(
  facts: ChainFacts,
  markets: readonly Market[],
  { budgets }: CompositionDeps['params'],
  nowMs: number,
): ComposedChain {
  const waitingFor = [{ group: 'composition', reason: 'running' }];
  return {
    chainId: facts.chainId,
    version: facts.version,
    asOfMs: facts.publishedMs,
    recomposeAtMs: nowMs,
    markets: [],
    strategies: [],
    lookup: beginLookup().lookup,
    excluded: markets.map(({ id, collateral, loan }) => ({
      marketId: id,
      symbol: `${collateral.displaySymbol}/${loan.symbol}`,
      waitingFor,
    })),
    fees: contractFeesOf(facts, budgets.deployment),
  };
}

import type { Catalog, Chain, Market } from '../catalog/types.ts';
import { beginComposition, type ComposeParams, composeChain } from '../domain/compose.ts';
import type { ChainFacts } from '../domain/facts.ts';
import { contractFeesOf } from '../domain/market/fees.ts';
import { beginLookup } from '../domain/market/lookup.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import { inPages, letOthersRun } from '../shared/pages.ts';
import type { SnapshotReader } from '../snapshot/types.ts';

export interface CompositionDeps {
  readonly catalog: Catalog;
  readonly snapshot: SnapshotReader;
  readonly clock: Clock;
  readonly params: Omit<ComposeParams, 'nowMs'>;
  /** Called on every lookup, for metrics. */
  readonly onLookup?: ((hit: boolean) => void) | undefined;
}

export interface Composition {
  /** The newest composed version of a chain: the same object until there is a newer one. */
  (chainId: ChainId): ComposedChain;
  /** Resolves when no composition in pages is running. */
  settled(): Promise<void>;
}

/** Chains up to this size are composed at once, in a few milliseconds, by the first request that needs a version. */
const AT_ONCE_MARKETS = 100;
/** A page is composed in some milliseconds. */
const MARKETS_PER_PAGE = 50;

/**
 * Compose each chain once per version of its facts, and again when it changes with time alone (a maturity, the end of a
 * campaign). A small chain is composed on request, always from the newest facts: of several publishes in a row only the last
 * one costs a composition. The composition of a large one starts after every publish and is made in pages; until it is
 * finished the one before is returned, so that no request waits for it.
 */
export function createComposition(deps: CompositionDeps): Composition {
  const { catalog, snapshot, clock, onLookup } = deps;
  const composedChains = new Map<ChainId, ComposedChain>();
  const running = new Map<ChainId, Promise<void>>();

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
  const composeInPages = async (facts: ChainFacts): Promise<ComposedChain> => {
    const chain = chainOf(facts.chainId);
    const composing = beginComposition(chain, facts, paramsOf(facts.chainId));
    for await (const page of inPages(chain.markets, MARKETS_PER_PAGE)) {
      for (const market of page) composing.add(market);
    }
    return composing.finish();
  };
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
  const catchUp = async (chainId: ChainId): Promise<void> => {
    for (;;) {
      await letOthersRun();
      if (current(chainId)) return;
      composedChains.set(chainId, await composeInPages(snapshot.facts(chainId)));
    }
  };
  const begin = (chainId: ChainId): Promise<void> => {
    const begun = running.get(chainId);
    if (begun) return begun;
    const work = catchUp(chainId).finally(() => running.delete(chainId));
    running.set(chainId, work);
    // The next request for the chain gets the error; this promise has no reader.
    work.catch(() => {});
    return work;
  };

  snapshot.subscribe(({ chainId }) => {
    const chain = catalog.chain(chainId);
    if (chain && isLarge(chain)) begin(chainId);
  });

  const composed = (chainId: ChainId): ComposedChain => {
    const chain = chainOf(chainId);
    const found = current(chainId);
    onLookup?.(found !== undefined);
    if (found) return found;
    if (!isLarge(chain)) return composeNow(chainId);
    void begin(chainId);
    return composedChains.get(chainId) ?? notYet(snapshot.facts(chainId), chain.markets, deps.params, clock.now());
  };
  return Object.assign(composed, {
    async settled() {
      while (running.size > 0) await Promise.all(running.values());
    },
  });
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

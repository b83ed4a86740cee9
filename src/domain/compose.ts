import type { Chain, Market } from '../catalog/types.ts';
import type { MarketId } from '../shared/ids.ts';
import { DAY_MS } from './apy/series.ts';
import { chainRules } from './deployment/rules.ts';
import { composeEquityStrategy } from './equity/compose.ts';
import type { ChainFacts, FreshnessBudgets } from './facts.ts';
import { composeMarket } from './market/compose.ts';
import { compositionContext } from './market/context.ts';
import { beginLookup } from './market/lookup.ts';
import type { ComposedChain, ComposedMarket, ExcludedMarket } from './market/types.ts';
import { composeStrategy, type StrategyParams } from './strategy/compose.ts';
import type { LinkTemplates } from './strategy/parts.ts';
import type { Strategy } from './strategy/types.ts';
import type { ListingRules } from './strategy/visibility.ts';

export interface ComposeParams extends LinkTemplates {
  readonly nowMs: number;
  readonly budgets: FreshnessBudgets;
  readonly listing: ListingRules;
  /** The previous composition of the same chain. */
  readonly previous?: ComposedChain | undefined;
}

/** Compose a chain from one version of its facts at one moment. Linear in the number of markets. */
export function composeChain(chain: Chain, facts: ChainFacts, params: ComposeParams): ComposedChain {
  const composing = beginComposition(chain, facts, params);
  for (const market of chain.markets) composing.add(market);
  return composing.finish();
}

/** A composition that is made market by market, so that the caller can yield to the event loop in between. */
export interface Composing {
  /** Compose a market of the chain, in catalog order. */
  add(market: Market): void;
  finish(): ComposedChain;
}

/** Begin to compose a chain. The result is that of `composeChain`; the caller adds the markets. */
export function beginComposition(chain: Chain, facts: ChainFacts, params: ComposeParams): Composing {
  const { previous, budgets, nowMs } = params;
  const context = compositionContext(chain, facts, budgets, nowMs, previous?.lookup.markets);
  const rules = chainRules(chain, facts, budgets);
  const strategyParams: StrategyParams = { nowMs, listing: params.listing, links: params, rules };
  const markets: ComposedMarket[] = [];
  const strategies: Strategy[] = [];
  const excluded: ExcludedMarket[] = [];
  const { lookup, addMarket, addStrategy } = beginLookup();
  const add = (strategy: Strategy): void => {
    strategies.push(strategy);
    addStrategy(strategy);
  };
  let recomposeAtMs = Number.POSITIVE_INFINITY;
  return {
    add(market) {
      const outcome = composeMarket(market, context);
      if (outcome.composed) {
        markets.push(outcome.composed);
        addMarket(outcome.composed);
        if (market.kind === 'loop') add(composeStrategy(outcome.composed, strategyParams));
      } else {
        excluded.push(outcome.excluded);
      }
      recomposeAtMs = Math.min(recomposeAtMs, nextBoundaryMs(market, facts, params));
    },
    finish() {
      addVaults(chain, lookup.markets, strategyParams, { add, excluded });
      return {
        chainId: chain.chainId,
        version: facts.version,
        asOfMs: facts.publishedMs,
        markets,
        strategies,
        excluded,
        lookup,
        fees: context.fees,
        recomposeAtMs: Number.isFinite(recomposeAtMs) ? recomposeAtMs : undefined,
      };
    },
  };
}

function addVaults(
  chain: Chain,
  byId: ReadonlyMap<MarketId, ComposedMarket>,
  params: StrategyParams,
  { add, excluded }: { readonly add: (strategy: Strategy) => void; readonly excluded: ExcludedMarket[] },
): void {
  for (const vault of chain.equityVaults) {
    const stock = byId.get(vault.stockMarket.id);
    const yieldMarket = byId.get(vault.yieldMarket.id);
    if (stock && yieldMarket) {
      add(composeEquityStrategy(vault, stock, yieldMarket, params));
    } else {
      const waitingFor = [
        ...(stock ? [] : [{ group: 'stockMarket', reason: 'not_composed' }]),
        ...(yieldMarket ? [] : [{ group: 'yieldMarket', reason: 'not_composed' }]),
      ];
      excluded.push({ marketId: vault.id, symbol: vault.stock.displaySymbol, waitingFor });
    }
  }
}

/** The next moment at which this market composes differently from the same facts, ms. */
function nextBoundaryMs(market: Market, facts: ChainFacts, params: ComposeParams): number {
  let next = Number.POSITIVE_INFINITY;
  const consider = (boundaryMs: number) => {
    if (boundaryMs > params.nowMs && boundaryMs < next) next = boundaryMs;
  };
  if (market.collateral.maturity !== undefined) {
    const maturityMs = market.collateral.maturity * 1_000;
    consider(maturityMs);
    consider(maturityMs - params.listing.minDaysToMaturity * DAY_MS);
  }
  const incentives = facts.groups.incentives.items.get(market.id)?.value;
  for (const side of [incentives?.borrow, incentives?.collateral]) {
    for (const campaign of side ?? []) {
      consider(campaign.startsAtMs);
      consider(campaign.endsAtMs);
    }
  }
  return next;
}

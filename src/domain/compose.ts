import type { Chain, Market } from '../catalog/types.ts';
import type { MarketId } from '../shared/ids.ts';
import { runAtOnce } from '../shared/slices.ts';
import { DAY_MS } from './apy/series.ts';
import { chainRules } from './deployment/rules.ts';
import { composeEquityStrategy } from './equity/compose.ts';
import type { ChainFacts, FreshnessBudgets } from './facts.ts';
import { composeMarket } from './market/compose.ts';
import { compositionContext } from './market/context.ts';
import type { ComposedChain, ComposedMarket, ExcludedMarket } from './market/types.ts';
import { composeStrategy, type StrategyParams } from './strategy/compose.ts';
import type { LinkTemplates } from './strategy/parts.ts';
import type { Strategy } from './strategy/types.ts';
import type { ListingRules } from './strategy/visibility.ts';

export interface ComposeParams extends LinkTemplates {
  readonly nowMs: number;
  readonly budgets: FreshnessBudgets;
  readonly listing: ListingRules;
}

/** Compose everything of a chain from one version of its facts, at one moment. Linear in the number of markets. */
export function composeChain(chain: Chain, facts: ChainFacts, params: ComposeParams): ComposedChain {
  return runAtOnce(composeChainSteps(chain, facts, params));
}

/**
 * Compose a chain market by market, so that the caller can let other work run between them. Each step yields how
 * many markets are done; the generator returns what `composeChain` returns.
 */
export function* composeChainSteps(
  chain: Chain,
  facts: ChainFacts,
  params: ComposeParams,
): Generator<number, ComposedChain, void> {
  const context = compositionContext(chain, facts, params.budgets, params.nowMs);
  const strategyParams: StrategyParams = {
    nowMs: params.nowMs,
    listing: params.listing,
    links: params,
    rules: chainRules(chain, facts, params.budgets),
  };
  const markets: ComposedMarket[] = [];
  const strategies: Strategy[] = [];
  const excluded: ExcludedMarket[] = [];
  const byId = new Map<MarketId, ComposedMarket>();
  let recomposeAtMs = Number.POSITIVE_INFINITY;
  let done = 0;
  for (const market of chain.markets) {
    const outcome = composeMarket(market, context);
    if (outcome.composed) {
      markets.push(outcome.composed);
      byId.set(market.id, outcome.composed);
      if (market.kind === 'loop') strategies.push(composeStrategy(outcome.composed, strategyParams));
    } else {
      excluded.push(outcome.excluded);
    }
    recomposeAtMs = Math.min(recomposeAtMs, nextBoundaryMs(market, facts, params));
    done += 1;
    yield done;
  }
  for (const vault of chain.equityVaults) {
    const stock = byId.get(vault.stockMarket.id);
    const yieldMarket = byId.get(vault.yieldMarket.id);
    if (stock && yieldMarket) {
      strategies.push(composeEquityStrategy(vault, stock, yieldMarket, strategyParams));
    } else {
      const waitingFor = [
        ...(stock ? [] : [{ group: 'stockMarket', reason: 'not_composed' }]),
        ...(yieldMarket ? [] : [{ group: 'yieldMarket', reason: 'not_composed' }]),
      ];
      excluded.push({ marketId: vault.id, symbol: vault.stock.displaySymbol, waitingFor });
    }
  }
  return {
    chainId: chain.chainId,
    version: facts.version,
    asOfMs: facts.publishedMs,
    markets,
    strategies,
    excluded,
    fees: context.fees,
    ...(Number.isFinite(recomposeAtMs) ? { recomposeAtMs } : {}),
  };
}

/** The next moment at which this market composes differently from the same facts. */
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

import type { Chain } from '../../catalog/types.ts';
import type { MarketId } from '../../shared/ids.ts';
import type { ChainFacts, FreshnessBudgets } from '../facts.ts';
import { type ContractFees, contractFeesOf, type FeesByKind, feesByKind } from './fees.ts';
import { type PriceContext, priceContext } from './prices.ts';
import { bufferOf, type MarketLimits, marketLimits } from './statics.ts';
import type { ComposedMarket } from './types.ts';

/** Input of a market's composition beside the market: one version of the facts and one moment. */
export interface CompositionContext extends PriceContext {
  readonly budgets: FreshnessBudgets;
  readonly nowMs: number;
  /** Fees of the contract that holds positions. */
  readonly fees: ContractFees;
  readonly feesByKind: FeesByKind;
  /** Limits by liquidation LTV in WAD. There are few values, and markets share the results. */
  readonly limitsOf: (lltv: bigint) => MarketLimits;
  /** The markets of the previous composition. Averages of unchanged histories are reused. */
  readonly previous: ReadonlyMap<MarketId, ComposedMarket>;
}

const NONE: ReadonlyMap<MarketId, ComposedMarket> = new Map();

/** Gather the context of one composition. */
export function compositionContext(
  chain: Chain,
  facts: ChainFacts,
  budgets: FreshnessBudgets,
  nowMs: number,
  previous: ReadonlyMap<MarketId, ComposedMarket> = NONE,
): CompositionContext {
  const known = new Map<bigint, MarketLimits>();
  const limitsOf = (lltv: bigint): MarketLimits => {
    const limits = known.get(lltv) ?? marketLimits({ lltv }, bufferOf(facts));
    known.set(lltv, limits);
    return limits;
  };
  const fees = contractFeesOf(facts, budgets.deployment);
  return { ...priceContext(chain, facts), budgets, nowMs, fees, feesByKind: feesByKind(fees), limitsOf, previous };
}

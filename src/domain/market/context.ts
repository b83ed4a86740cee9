import type { Chain } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { ChainFacts, FreshnessBudgets } from '../facts.ts';
import { type ContractFees, contractFeesOf } from './fees.ts';
import { peggedTokens } from './statics.ts';

/** What composing a market needs beside the market: one version of the facts and one moment. */
export interface CompositionContext {
  readonly chain: Chain;
  readonly facts: ChainFacts;
  readonly budgets: FreshnessBudgets;
  readonly nowMs: number;
  /** What the contract that holds positions takes. */
  readonly fees: ContractFees;
  /** Stablecoins held at one dollar. */
  readonly pegged: ReadonlySet<Address>;
}

/** Gather the context of one composition. */
export function compositionContext(
  chain: Chain,
  facts: ChainFacts,
  budgets: FreshnessBudgets,
  nowMs: number,
): CompositionContext {
  const fees = contractFeesOf(facts, budgets.deployment);
  return { chain, facts, budgets, nowMs, fees, pegged: peggedTokens(chain) };
}

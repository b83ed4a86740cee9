import { composeChain } from '../../src/domain/compose.ts';
import type { ChainFacts, Failure } from '../../src/domain/facts.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { chainOf, NOW_MS, PARAMS } from './world.ts';

export const ethereum = chainOf(1);
export const robinhood = chainOf(4663);
export const timeout: Failure = { reason: 'timeout', source: 'test', sinceMs: NOW_MS - 5_000 };

/** Compose a chain of facts and take one strategy of it. */
export function strategyOf(facts: ChainFacts, id: string, chain = ethereum, params = PARAMS): Strategy {
  const found = composeChain(chain, facts, params).strategies.find((strategy) => strategy.id === id);
  if (!found) throw new Error(`strategy ${id} is not composed`);
  return found;
}

export const gapOf = (strategy: Strategy, field: string) => strategy.gaps.find((gap) => gap.field === field);

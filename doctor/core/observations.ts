import type { Market, Token } from '../../src/catalog/types.ts';
import type { LendingReading } from '../../src/chain/markets.ts';
import type { Decimal } from '../../src/shared/decimal.ts';
import type { ChainId } from '../../src/shared/ids.ts';
import type { LineMaker } from './types.ts';

/** A number of one source, compared with other sources at the end. */
export type Observation =
  | { readonly kind: 'price'; readonly make: LineMaker; readonly token: Token; readonly usd: Decimal }
  | {
      readonly kind: 'quote';
      readonly make: LineMaker;
      readonly market: Market;
      readonly amountIn: bigint;
      readonly amountOut: bigint;
    };

/** Collects numbers that several checks are judged by. */
export interface Observations {
  add(observation: Observation): void;
  addOracles(chainId: ChainId, reading: LendingReading): void;
  all(): readonly Observation[];
  oracles(chainId: ChainId): LendingReading | undefined;
}

export function createObservations(): Observations {
  const all: Observation[] = [];
  const oracles = new Map<ChainId, LendingReading>();
  return {
    add: (observation) => all.push(observation),
    addOracles: (chainId, reading) => oracles.set(chainId, reading),
    all: () => all,
    oracles: (chainId) => oracles.get(chainId),
  };
}

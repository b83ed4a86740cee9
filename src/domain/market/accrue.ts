import { MarketUtils } from '@morpho-org/blue-sdk';
import type { LendingState } from '../facts.ts';

export interface AccruedTotals {
  readonly totalSupplyAssets: bigint;
  readonly totalBorrowAssets: bigint;
  readonly totalSupplyShares: bigint;
  readonly totalBorrowShares: bigint;
}

/**
 * Accrue a market to the block of its state, as the protocol would in that block. The rate is that of the market's own IRM
 * since the last update, so any IRM is supported. The arithmetic is the protocol SDK's.
 */
export function accrue(state: LendingState): AccruedTotals {
  const elapsed = state.blockTimestamp > state.lastUpdate ? state.blockTimestamp - state.lastUpdate : 0n;
  const { interest, feeShares } = MarketUtils.getAccruedInterest(state.borrowRate, state, elapsed);
  return {
    totalSupplyAssets: state.totalSupplyAssets + interest,
    totalBorrowAssets: state.totalBorrowAssets + interest,
    totalSupplyShares: state.totalSupplyShares + feeShares,
    totalBorrowShares: state.totalBorrowShares,
  };
}

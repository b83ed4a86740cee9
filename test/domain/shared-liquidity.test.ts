import { describe, expect, test } from 'vitest';
import type { Fact, LendingState, SharedLiquidity } from '../../src/domain/facts.ts';
import { sharedAssetsOf } from '../../src/domain/market/shared-liquidity.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';

const [FIRST, SECOND, UNKNOWN] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(64)}` as MarketId) as [
  MarketId,
  MarketId,
  MarketId,
];
const vault = '0x1111111111111111111111111111111111111111' as Address;

/** A market that accrues nothing, so that its idle liquidity is constant. */
const stateOf = (supplied: bigint, borrowed: bigint): Fact<LendingState> => ({
  value: {
    totalSupplyAssets: supplied,
    totalSupplyShares: supplied,
    totalBorrowAssets: borrowed,
    totalBorrowShares: borrowed,
    lastUpdate: 1n,
    fee: 0n,
    rateAtTarget: 0n,
    borrowRate: 0n,
    blockNumber: 1n,
    blockTimestamp: 1n,
  },
  asOfMs: 1_000,
  source: 'chain',
});
const states = new Map([
  [FIRST, stateOf(1_000n, 900n)],
  [SECOND, stateOf(500n, 500n)],
]);
const sum = (...sources: (readonly [MarketId, bigint])[]) => {
  const shared: SharedLiquidity = {
    sources: sources.map(([withdrawMarketId, assets]) => ({ vault, withdrawMarketId, assets, feeWei: 0n })),
  };
  return sharedAssetsOf(shared, states);
};

describe('sharedAssetsOf', () => {
  test('default: liquidity of each source', () => {
    expect(sum([FIRST, 60n], [UNKNOWN, 7n])).toBe(67n);
    expect(sum()).toBe(0n);
  });

  test('behavior: at most the idle liquidity of a market, for any supply', () => {
    expect(sum([FIRST, 950n])).toBe(100n);
    expect(sum([SECOND, 400n])).toBe(0n);
  });

  test('behavior: two vaults share the same idle liquidity', () => {
    expect(sum([FIRST, 80n], [FIRST, 80n], [UNKNOWN, 1n])).toBe(101n);
  });
});

import { describe, expect, test } from 'vitest';
import type { Address } from '../../src/shared/ids.ts';
import { liquidityNeeds } from '../../src/transactions/liquidity.ts';
import { planAllocator } from '../../src/transactions/read/allocator.ts';
import { paramsOf } from '../../src/transactions/read/market-state.ts';
import { planReallocation, reallocatable } from '../../src/transactions/reallocation.ts';
import { servedChain } from './model/scene.ts';
import { chain, market } from './susde-position.ts';

describe('liquidity of vaults', () => {
  const source = (vaultN: number, marketN: number, movable: bigint, more: object = {}) => ({
    vault: `0x${String(vaultN).repeat(40)}` as Address,
    feeWei: 0n,
    maxIn: 1_000n,
    marketId: `0x${String(marketN).repeat(64)}` as never,
    market: paramsOf(market),
    liquidity: 1_000n,
    movable,
    ...more,
  });
  const moves = (plan: ReturnType<typeof planReallocation>) =>
    plan?.reallocations.map(({ vault: of, feeWei, withdrawals }) => [
      `${of[2]} for ${feeWei}`,
      ...withdrawals.map(({ marketId, amount }) => `${marketId[2]}:${amount}`),
    ]);

  test('behavior: free vaults come first, then those with the most to move; a hundredth more than the gap is moved', () => {
    const sources = [
      source(1, 1, 100n, { feeWei: 2n }),
      source(2, 1, 60n),
      source(3, 1, 90n),
      source(4, 1, 500n, { maxIn: 70n }),
    ];
    expect(moves(planReallocation(sources, 0n, 200n))).toEqual([
      ['3 for 0', '1:90'],
      ['4 for 0', '1:70'],
      ['2 for 0', '1:42'],
    ]);
    expect(moves(planReallocation(sources, 0n, 230n))?.at(-1)).toEqual(['1 for 2', '1:12']);
    expect([reallocatable(sources), reallocatable([])]).toEqual([320n, 0n]);
  });

  test('behavior: of one vault the largest market is emptied first, and withdrawals ascend by market', () => {
    const sources = [source(1, 3, 30n), source(1, 1, 50n), source(1, 2, 40n), source(1, 9, 0n)];
    expect(moves(planReallocation(sources, 0n, 100n))).toEqual([['1 for 0', '1:50', '2:40', '3:11']]);
    expect(planReallocation(sources, 0n, 121n)).toBeUndefined();
    expect(planReallocation(sources, 0n, 120n)?.moved).toBe(120n);
  });

  test('behavior: the liquidity of a market is counted once for all vaults', () => {
    const sources = [source(1, 1, 80n, { liquidity: 100n }), source(2, 1, 80n, { liquidity: 100n })];
    expect(moves(planReallocation(sources, 0n, 99n))).toEqual([
      ['1 for 0', '1:80'],
      ['2 for 0', '1:19'],
    ]);
    expect(reallocatable(sources)).toBe(100n);
    // A market that lends exactly the loan has nothing left over: at least one unit is moved.
    expect(planReallocation(sources, 99n, 99n)?.moved).toBe(1n);
  });

  test('behavior: a source moves the lesser of its cap and its supply, at most the liquidity of its market', () => {
    const shared = (assets: readonly bigint[]) => ({
      sources: assets.map((amount, i) => ({
        vault: `0x${String(i + 1)
          .padStart(2, '0')
          .repeat(20)}` as Address,
        withdrawMarketId: market.id,
        assets: amount,
        feeWei: 0n,
      })),
    });
    const plan = planAllocator(chain, market, shared([1n, 3n]));
    const params = ['0x1', '0x2', '0x3', '0x4', 5n];
    const answers = (supply: bigint, borrow: bigint, cap: bigint, shares: bigint) => [
      ...[params, [supply, supply * 1_000_000n, borrow, 0n, 0n, 0n], [shares, 0n, 0n], [0n, cap], [77n, 0n], 9n],
    ];
    const folded = plan.fold([...answers(100n, 40n, 50n, 30_000_000n), ...answers(40n, 41n, 10n, 30_000_000n)], {
      timestamp: 1n,
    });
    expect(
      folded.map(({ vault: of, ...rest }) => [of[3], rest.liquidity, rest.movable, rest.maxIn, rest.feeWei]),
    ).toEqual([
      ['2', 60n, 30n, 77n, 9n],
      ['1', 0n, 10n, 77n, 9n],
    ]);
    const many = planAllocator(chain, market, shared(Array.from({ length: 41 }, (_, i) => BigInt(i))));
    expect([many.reads.length, planAllocator(chain, market, undefined).reads]).toEqual([240, []]);
    expect(planAllocator(servedChain(4663), market, shared([1n])).reads).toEqual([]);
  });
});

test('liquidityNeeds: liquidity that was not read counts as zero', () => {
  expect(liquidityNeeds([[{ kind: 'borrow', market, amount: 5n }]], [])).toEqual([
    { place: 'market', market, needed: 5n, available: 0n },
    { place: 'protocol', market, needed: 5n, available: 0n },
  ]);
});

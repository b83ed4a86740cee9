import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planReallocation, reallocatable } from '../../src/transactions/reallocation.ts';
import { place, RUNS, sourcesAround } from './world.ts';

const scenario = fc
  .record({ where: place, loan: fc.bigInt(1n, 10n ** 24n) })
  .chain(({ where, loan }) =>
    fc.record({ loan: fc.constant(loan), liquidity: fc.bigInt(0n, loan), sources: sourcesAround(where.market, loan) }),
  );

describe('planReallocation', () => {
  it('behavior: moves enough, within the limits of vaults and markets', () => {
    fc.assert(
      fc.property(scenario, ({ loan, liquidity, sources }) => {
        const plan = planReallocation(sources, liquidity, loan);
        const gap = loan > liquidity ? loan - liquidity : 1n;
        if (!plan) {
          expect(reallocatable(sources) < gap).toBe(true);
          return;
        }
        expect(plan.moved >= gap && plan.moved <= gap + loan / 100n).toBe(true);
        const fromMarket = new Map<string, bigint>();
        for (const { vault, feeWei, withdrawals } of plan.reallocations) {
          const own = sources.filter((source) => source.vault === vault);
          expect(feeWei).toBe(own[0]?.feeWei);
          const total = withdrawals.reduce((sum, { amount }) => sum + amount, 0n);
          expect(total <= (own[0]?.maxIn ?? 0n)).toBe(true);
          const ids = withdrawals.map(({ marketId }) => marketId);
          expect(ids).toEqual(ids.toSorted());
          for (const { marketId, amount } of withdrawals) {
            expect(amount <= (own.find((source) => source.marketId === marketId)?.movable ?? 0n)).toBe(true);
            fromMarket.set(marketId, (fromMarket.get(marketId) ?? 0n) + amount);
          }
        }
        for (const [marketId, amount] of fromMarket) {
          expect(amount <= (sources.find((source) => source.marketId === marketId)?.liquidity ?? 0n)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  describe('the order of vaults', () => {
    const [market] = fc.sample(place, 1);
    if (!market) throw new Error('there are markets');
    const params = {
      loanToken: market.market.loan.address,
      collateralToken: market.market.collateral.address,
      oracle: market.market.oracle,
      irm: market.market.irm,
      lltv: market.market.lltv,
    };
    const source = (vault: string, feeWei: bigint, maxIn = 100n) => ({
      vault: vault as `0x${string}`,
      feeWei,
      maxIn,
      marketId: `0x${vault.slice(2)}` as never,
      market: params,
      liquidity: 100n,
      movable: 100n,
    });
    const vaults = (...sources: Parameters<typeof planReallocation>[0]) =>
      planReallocation(sources, 0n, 90n)?.reallocations.map(({ vault }) => vault);

    it('behavior: takes from the markets of a vault in the order of their ids', () => {
      const [large, small] = [source('0xbb', 0n), { ...source('0xbb', 0n), marketId: '0xaa' as never, movable: 60n }];
      const [only] = planReallocation([{ ...large, movable: 70n }, small], 0n, 90n)?.reallocations ?? [];
      expect(only?.withdrawals.map(({ marketId, amount }) => [marketId, amount])).toEqual([
        ['0xaa', 20n],
        ['0xbb', 70n],
      ]);
    });

    it('behavior: is by fee', () => {
      expect(vaults(source('0xaa', 5n), source('0xbb', 0n))).toEqual(['0xbb']);
    });

    it('behavior: with equal fees is by the amount that a vault can move, then by the given order', () => {
      expect(vaults(source('0xaa', 0n, 99n), source('0xbb', 0n))).toEqual(['0xbb']);
      expect(vaults(source('0xaa', 0n), source('0xbb', 0n, 101n))).toEqual(['0xaa']);
    });
  });
});

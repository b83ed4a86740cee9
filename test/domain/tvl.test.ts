import { Market as SdkMarket } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { composeChain } from '../../src/domain/compose.ts';
import { composeTvl, totalTvl } from '../../src/domain/tvl/compose.ts';
import { tvlMarkets } from '../../src/domain/tvl/markets.ts';
import type { ChainTvl, TvlPosition } from '../../src/domain/tvl/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { chainOf, completeFacts, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

const ethereum = chainOf(1);
const facts = completeFacts(ethereum);
const chain = composeChain(ethereum, facts, PARAMS);
const wallet = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const position = (over: Partial<TvlPosition> = {}): TvlPosition => ({
  wallet: wallet(1),
  marketId: marketOf(ethereum, 'sUSDe', 'DAI').id,
  collateral: 1_000n * 10n ** 18n,
  borrowShares: 700n * 10n ** 18n * 1_000_000n,
  open: true,
  ...over,
});

function computed(positions: readonly TvlPosition[]): ChainTvl {
  const outcome = composeTvl(chain, positions, NOW_MS);
  if (!outcome.computed) throw new Error('not computed');
  return outcome.tvl;
}

describe('composeTvl', () => {
  test('default: recomputed with the SDK', () => {
    const market = marketOf(ethereum, 'sUSDe', 'DAI');
    const state = facts.groups.lendingState.items.get(market.id)?.value;
    if (!state) throw new Error('no state');
    const params = {
      loanToken: market.loan.address,
      collateralToken: market.collateral.address,
      oracle: market.oracle,
      irm: market.irm,
      lltv: market.lltv,
    };
    const sdk = new SdkMarket({ ...state, params });
    const borrowRate = sdk.getAvgBorrowRate(state.blockTimestamp);
    const onCurve = withItem(facts, 'lendingState', market.id, { value: { ...state, borrowRate } });
    const outcome = composeTvl(composeChain(ethereum, onCurve, PARAMS), [position()], NOW_MS);
    const debt = sdk.accrueInterest(state.blockTimestamp).toBorrowAssets(position().borrowShares, 'Up');
    const usd = (assets: bigint) => new Decimal(assets.toString()).times('0.9998').shiftedBy(-18).toFixed(2);
    expect(outcome).toMatchObject({ computed: true, tvl: { positions: 1, users: 1, outsideCatalog: 0 } });
    if (!outcome.computed) throw new Error('not computed');
    expect(outcome.tvl.grossTvlUsd.toFixed(2)).toBe(usd(1_070n * 10n ** 18n));
    expect(outcome.tvl.borrowedUsd.toFixed(2)).toBe(usd(debt));
  });

  test('behavior: the three sums agree to the cent, and counts are of open positions with collateral', () => {
    const anyPosition = fc.record({
      wallet: fc.integer({ min: 1, max: 6 }).map(wallet),
      marketId: fc.constantFrom(...ethereum.markets.map((market) => market.id)),
      collateral: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 10n ** 26n })),
      borrowShares: fc.bigInt({ min: 0n, max: 10n ** 28n }),
      open: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyPosition, { maxLength: 30 }), (positions) => {
        const tvl = computed(positions);
        expect(tvl.tvlUsd.plus(tvl.borrowedUsd).eq(tvl.grossTvlUsd)).toBe(true);
        for (const amount of [tvl.tvlUsd, tvl.borrowedUsd, tvl.grossTvlUsd]) {
          expect(amount.decimalPlaces()).toBeLessThanOrEqual(2);
        }
        const counted = positions.filter((p) => p.open && p.collateral > 0n);
        expect(tvl.positions).toBe(counted.length);
        expect(tvl.users).toBe(new Set(counted.map((p) => p.wallet)).size);
      }),
      { numRuns: 200 },
    );
  });

  test('behavior: shows debt beyond the collateral of its position beside the unchanged sums', () => {
    const under = position({ wallet: wallet(2), collateral: 100n * 10n ** 18n });
    const [alone, both, healthy] = [computed([under]), computed([position(), under]), computed([position()])];
    expect(healthy.badDebtUsd?.toFixed()).toBe('0');
    expect(alone.badDebtUsd?.toFixed(2)).toBe(alone.tvlUsd.negated().toFixed(2));
    expect(both.badDebtUsd?.toFixed(2)).toBe(alone.badDebtUsd?.toFixed(2));
    expect(both.tvlUsd.plus(both.borrowedUsd).eq(both.grossTvlUsd)).toBe(true);
    const { badDebtUsd: _unmeasured, ...older } = healthy;
    expect(totalTvl([both, healthy])?.badDebtUsd?.toFixed(2)).toBe(both.badDebtUsd?.toFixed(2));
    expect(totalTvl([both, older])?.badDebtUsd).toBeUndefined();
  });

  test('behavior: names an oracle far from the price with its sums, and all chains in the total', () => {
    const market = marketOf(ethereum, 'sUSDe', 'DAI');
    const priced = withItem(facts, 'price', market.collateral.address, { value: { usd: new Decimal('1.9') } });
    const other = position({ marketId: marketOf(ethereum, 'siUSD', 'USDC').id });
    const outcome = composeTvl(tvlMarkets(ethereum, priced), [position(), position(), other], NOW_MS);
    if (!outcome.computed) throw new Error('not computed');
    const { oracleDivergences = [], divergentUsd } = outcome.tvl;
    expect(oracleDivergences).toHaveLength(1);
    expect(oracleDivergences[0]).toMatchObject({
      marketId: market.id,
      oracle: market.oracle,
      against: 'price',
      positions: 2,
    });
    expect(oracleDivergences[0]?.divergencePct.toFixed(2)).toBe('-43.70');
    const [two] = [computed([position(), position()])];
    expect(divergentUsd?.toFixed(2)).toBe(two.grossTvlUsd.toFixed(2));
    expect(two).toMatchObject({ oracleDivergences: [], divergentUsd: new Decimal(0) });
    const { divergentUsd: _unmeasured, ...older } = two;
    expect(totalTvl([outcome.tvl, two])?.divergentUsd?.eq(two.grossTvlUsd)).toBe(true);
    expect(totalTvl([outcome.tvl, older])?.divergentUsd).toBeUndefined();
  });

  test('behavior: markets with an oracle far from the price are ordered by their sums, the largest first', () => {
    const [small, large] = [marketOf(ethereum, 'sUSDe', 'DAI'), marketOf(ethereum, 'siUSD', 'USDC')];
    const off = { value: { usd: new Decimal('1.9') } };
    const first = withItem(facts, 'price', small.collateral.address, off);
    const priced = withItem(first, 'price', large.collateral.address, off);
    const held = [position(), ...[2, 3, 4].map((n) => position({ marketId: large.id, wallet: wallet(n) }))];
    for (const positions of [held, held.toReversed()]) {
      const outcome = composeTvl(tvlMarkets(ethereum, priced), positions, NOW_MS);
      const found = outcome.computed ? outcome.tvl.oracleDivergences : undefined;
      expect(found?.map(({ marketId }) => marketId)).toEqual([large.id, small.id]);
    }
  });

  test('behavior: each debt is rounded up', () => {
    const { id: marketId } = marketOf(ethereum, 'siUSD', 'USDC');
    const dust = Array.from({ length: 20_000 }, () => position({ marketId, collateral: 1n, borrowShares: 1n }));
    expect(computed(dust).borrowedUsd.toFixed()).toBe('0.02');
  });

  test('behavior: a chain without positions is computed, and zero', () => {
    const closed = [position({ open: false }), position({ collateral: 0n })];
    expect(computed(closed)).toMatchObject({ positions: 0, users: 0, asOfMs: NOW_MS });
    expect(computed(closed).grossTvlUsd.isZero()).toBe(true);
  });

  test('behavior: an unknown price or an uncomposed market fails the chain', () => {
    const { marketId } = position();
    const market = marketOf(ethereum, 'sUSDe', 'DAI');
    const depegged = { value: { usd: new Decimal('0.5') } };
    const unpriced = tvlMarkets(ethereum, withItem(facts, 'price', market.loan.address, depegged));
    expect(composeTvl(unpriced, [position(), position()], NOW_MS)).toEqual({
      computed: false,
      unpriced: [{ marketId, positions: 2, reason: 'loan_price_unknown' }],
    });
    const excluded = composeChain(ethereum, withItem(facts, 'oracle', market.oracle, {}), PARAMS);
    expect(composeTvl(excluded, [position()], NOW_MS)).toEqual({
      computed: false,
      unpriced: [{ marketId, positions: 1, reason: 'market_not_composed' }],
    });
    expect(composeTvl(excluded, [position({ open: false })], NOW_MS).computed).toBe(true);
  });

  test('behavior: excludes and counts a market outside the catalog', () => {
    const foreign = position({ marketId: `0x${'9'.repeat(64)}` as MarketId, wallet: wallet(9) });
    expect(computed([position(), foreign])).toMatchObject({ positions: 1, users: 1, outsideCatalog: 1 });
  });

  test('behavior: has the age of the oldest input', () => {
    expect(computed([position()]).asOfMs).toBe(NOW_MS - 60_000);
    const older = composeTvl(chain, [position()], NOW_MS - 90_000);
    expect(older.computed && older.tvl.asOfMs).toBe(NOW_MS - 90_000);
    const market = marketOf(ethereum, 'sUSDe', 'DAI');
    const facts = completeFacts(ethereum);
    const asOfMs = NOW_MS - 75_000;
    for (const [group, key] of [
      ['price', market.loan.address],
      ['oracle', market.oracle],
      ['lendingState', market.id],
    ] as const) {
      const value = facts.groups[group].items.get(key as never)?.value;
      const aged = withItem(facts, group, key as never, { value, asOfMs } as never);
      const outcome = composeTvl(tvlMarkets(ethereum, aged), [position()], NOW_MS);
      expect([group, outcome.computed && outcome.tvl.asOfMs]).toEqual([group, asOfMs]);
    }
  });
});

describe('totalTvl', () => {
  test('default: sums chains; a wallet on two chains is one user', () => {
    const one = computed([position(), position({ wallet: wallet(2) })]);
    const other = { ...computed([position()]), chainId: 4663 };
    const total = totalTvl([one, other]);
    expect(total).toMatchObject({ positions: 3, users: 2 });
    expect(total?.tvlUsd.plus(total.borrowedUsd).eq(total.grossTvlUsd)).toBe(true);
    expect(total?.grossTvlUsd.eq(one.grossTvlUsd.plus(other.grossTvlUsd))).toBe(true);
  });

  test('behavior: no total before the first chain is computed', () => {
    expect(totalTvl([])).toBeUndefined();
  });
});

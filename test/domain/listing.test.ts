import { describe, expect, test } from 'vitest';
import { emptyChainFacts } from '../../src/domain/facts.ts';
import { isPlausiblePrice } from '../../src/domain/market/prices.ts';
import { cleanExitSize, exitTier } from '../../src/domain/strategy/exit.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { visibilityOf } from '../../src/domain/strategy/visibility.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { ethereum, gapOf, strategyOf } from './strategy-world.ts';
import { completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

describe('visibilityOf', () => {
  const facts = completeFacts(ethereum);
  const checksOf = (strategy: Strategy) =>
    Object.fromEntries(strategy.visibility.checks.map((check) => [check.name, check]));

  test('behavior: requires a yield of the collateral or an incentive', () => {
    const market = marketOf(ethereum, 'sUSDS', 'AUSD');
    const zero = withItem(facts, 'collateralApy', market.collateral.address, { value: { apyPct: new Decimal(0) } });
    const strategy = strategyOf(zero, market.id);
    expect(strategy.visibility.visible).toBe(false);
    expect(checksOf(strategy).has_yield).toMatchObject({ passed: false, value: '0.00', threshold: '0' });
    const campaign = { id: '1', symbol: 'M', aprPct: new Decimal(1), startsAtMs: NOW_MS, endsAtMs: NOW_MS + 1 };
    const paid = withItem(zero, 'incentives', market.id, { value: { borrow: [campaign], collateral: [] } });
    expect(strategyOf(paid, market.id).visibility.visible).toBe(true);
  });

  test('behavior: one yield above zero suffices, even with a negative sum', () => {
    const market = marketOf(ethereum, 'sUSDS', 'AUSD');
    const campaign = { id: '1', symbol: 'M', aprPct: new Decimal(3), startsAtMs: NOW_MS, endsAtMs: NOW_MS + 1 };
    const losing = withItem(facts, 'collateralApy', market.collateral.address, { value: { apyPct: new Decimal(-5) } });
    expect(checksOf(strategyOf(losing, market.id)).has_yield?.passed).toBe(false);
    for (const value of [
      { borrow: [campaign], collateral: [] },
      { borrow: [], collateral: [campaign] },
    ]) {
      const paid = strategyOf(withItem(losing, 'incentives', market.id, { value }), market.id);
      expect(checksOf(paid).has_yield).toMatchObject({ passed: true, value: '3.00' });
    }
  });

  test('behavior: passes without a value if no known yield exists and incentives are unknown', () => {
    const market = marketOf(ethereum, 'sUSDS', 'AUSD');
    const zero = withItem(facts, 'collateralApy', market.collateral.address, { value: { apyPct: new Decimal(0) } });
    const cold = { ...zero, groups: { ...zero.groups, incentives: emptyChainFacts(1).groups.incentives } };
    const strategy = strategyOf(cold, market.id);
    expect(checksOf(strategy).has_yield).toEqual({ name: 'has_yield', passed: true, value: null, threshold: '0' });
    expect(gapOf(strategy, 'collateralIncentive')).toBeDefined();
  });

  test('behavior: requires a swap route', () => {
    const curated = strategyOf(facts, marketOf(ethereum, 'sNUSD', 'USDC').id);
    expect(curated.noSwapRoute).toBe(true);
    expect(checksOf(curated).swap_route?.passed).toBe(false);
    const market = marketOf(ethereum, 'reUSD', 'USDC');
    const none = { '100000': null, '500000': null, '1000000': null, '5000000': null };
    const swept = withItem(facts, 'exitLiquidity', market.collateral.address, { value: { slippagePct: none } });
    const strategy = strategyOf(swept, market.id);
    expect(strategy).toMatchObject({ noSwapRoute: true, visibility: { visible: false } });
    expect(strategy.spiralHints?.exitLiquidityTier?.value).toBe('thin');
    expect(gapOf(strategy, 'exitLiquidity.slippages.100000')?.reason).toBe('NONE');
  });

  test('behavior: requires more than the minimum days before maturity', () => {
    const market = marketOf(ethereum, 'PT-stcUSD', 'USDC');
    const sevenDaysBefore = (market.collateral.maturity as number) * 1_000 - 7 * DAY;
    for (const [nowMs, visible, value] of [
      [sevenDaysBefore - 1, true, '7.0'],
      [sevenDaysBefore, false, '7.0'],
      [sevenDaysBefore + DAY, false, '6.0'],
    ] as const) {
      const strategy = strategyOf(facts, market.id, ethereum, { ...PARAMS, nowMs });
      expect(strategy.visibility.visible).toBe(visible);
      expect(checksOf(strategy).maturity).toMatchObject({ passed: visible, value, threshold: '7' });
    }
  });

  test('behavior: requires liquidity above the minimum', () => {
    const market = marketOf(ethereum, 'siUSD', 'USDC');
    const state = facts.groups.lendingState.items.get(market.id)?.value;
    if (!state) throw new Error('no state');
    for (const [free, visible] of [
      [1_000_200_000n, false],
      [1_000_300_000n, true],
    ] as const) {
      const totalSupplyAssets = state.totalBorrowAssets + free;
      const value = { ...state, totalSupplyAssets, lastUpdate: state.blockTimestamp };
      const strategy = strategyOf(withItem(facts, 'lendingState', market.id, { value }), market.id);
      expect(checksOf(strategy).liquidity).toMatchObject({ passed: visible, threshold: '1000' });
    }
  });
});

describe('liquidity of a listed market', () => {
  test.each([
    ['1000', false],
    ['1000.01', true],
  ])('behavior: %s USD with a minimum of 1000', (usd, passed) => {
    const market = { worst: { liquidityUsd: new Decimal(usd) }, liquidityAssets: 1n };
    const input = {
      market,
      yieldsPct: [],
      needsYield: false,
      lacksRoute: false,
      maturing: {},
      nowMs: NOW_MS,
      deployment: [],
    };
    const rules = { minDaysToMaturity: 7, minLiquidityUsd: new Decimal(1_000) };
    expect(visibilityOf(input as never, rules).checks.find(({ name }) => name === 'liquidity')?.passed).toBe(passed);
  });
});

describe('isPlausiblePrice', () => {
  test.each([
    ['0.8999', true, false],
    ['0.9', true, true],
    ['1.1', true, true],
    ['1.1001', true, false],
    ['0', false, false],
    ['0.0001', false, true],
    ['9', false, true],
  ] as const)('default: %s USD, pegged to a dollar: %s', (usd, pegged, expected) => {
    expect(isPlausiblePrice(new Decimal(usd), pegged)).toBe(expected);
  });
});

describe('exitTier', () => {
  test.each([
    ['deep', ['0.1', '0.2', '0.5', '1.49']],
    ['good', ['0.1', '0.2', '1.49', '1.5']],
    ['limited', ['0.1', '1.4', '1.6', null]],
    ['thin', ['0.1', '1.5', null, null]],
    ['thin', ['2.01', '0.1', '0.1', '0.1']],
    ['thin', [null, '0.1', '0.1', '0.1']],
    ['limited', ['2', '1.4', null, null]],
  ] as const)('default: %s for %j', (tier, losses) => {
    const [a, b, c, d] = losses.map((loss) => (loss === null ? null : new Decimal(loss)));
    const slippagePct = { '100000': a ?? null, '500000': b ?? null, '1000000': c ?? null, '5000000': d ?? null };
    expect(exitTier({ slippagePct })).toBe(tier);
  });
});

describe('cleanExitSize', () => {
  test.each([
    ['5000000', ['0.1', '0.2', '0.5', '1.49']],
    ['1000000', ['0.1', '0.2', '1.49', '1.5']],
    ['500000', ['0.1', '1.4', '1.6', null]],
    ['100000', ['1.49', '1.5', null, null]],
    ['500000', ['2', '1.4', null, null]],
    [null, ['1.5', '1.5', null, null]],
    [null, ['2.01', '0.1', '0.1', '0.1']],
    [null, [null, '0.1', '0.1', '0.1']],
  ] as const)('default: %s for %j', (size, losses) => {
    const [a, b, c, d] = losses.map((loss) => (loss === null ? null : new Decimal(loss)));
    const slippagePct = { '100000': a ?? null, '500000': b ?? null, '1000000': c ?? null, '5000000': d ?? null };
    expect(cleanExitSize({ slippagePct } as Parameters<typeof cleanExitSize>[0])).toBe(size);
  });
});

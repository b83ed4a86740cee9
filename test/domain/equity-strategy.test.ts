import { MarketUtils } from '@morpho-org/blue-sdk';
import { describe, expect, test } from 'vitest';
import { composeChain } from '../../src/domain/compose.ts';
import type { ChainFacts } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { gapOf, robinhood, strategyOf, timeout } from './strategy-world.ts';
import { completeFacts, NOW_MS, PARAMS, withItem } from './world.ts';

describe('composeEquityStrategy', () => {
  const vault = robinhood.equityVaults[0];
  if (!vault) throw new Error('no vault');

  test('default: recomputed from the raw values', () => {
    const facts = completeFacts(robinhood);
    const strategy = strategyOf(facts, vault.id, robinhood);
    const borrow = MarketUtils.rateToApy(1_198_000_000n) * 100;
    const leg = 6.123456 * 10.5 - borrow * 9.5;
    const net = (ltv: number) => (ltv * (leg - borrow)).toFixed(2);
    expect(strategy).toMatchObject({
      kind: 'equity',
      marketId: vault.stockMarket.id,
      correlated: false,
      curator: 'Longbow',
      collateral: { symbol: 'SPY', category: 'stocks' },
      loan: { symbol: 'USDG' },
      collateralApyPct: leg.toFixed(2),
      collateralApySource: 'aggregator',
      borrowApyPct: borrow.toFixed(2),
      maxLeverage: '1.6',
      leverageLadder: [
        { leverage: '1.0', ltvPct: '0.0', leverageApyPct: '0.00' },
        { leverage: '1.5', ltvPct: '50.0', leverageApyPct: net(0.5) },
        { leverage: '1.6', ltvPct: '55.0', leverageApyPct: net(0.55) },
      ],
      defaultLeverage: { leverage: '1.5', ltvPct: '50.0', leverageApyPct: net(0.5) },
      ltvPct: { liquidation: '62.50', max: '55.00', safe: '55.00' },
      equityVault: {
        yieldStrategyId: vault.yieldMarket.id,
        targetLtvPct: '50.00',
        maxStockLtvPct: '55.00',
        yieldLegApyPct: leg.toFixed(2),
      },
      // Both legs over 30 days: 6.2 * 10.5 − 3.45 * 9.5 = 32.325, and half of the excess over the stock debt's 3.45.
      yieldSustainabilityPct: { avg30d: '32.33' },
      historicalLeverageApyPct: { avg30d: '14.44' },
      visibility: { visible: true },
    });
    expect(strategy.spiralHints?.profile).toBeUndefined();
  });

  test('behavior: a leg with unknown incentives is computed without them, and both of its fields have a gap', () => {
    const { groups } = completeFacts(robinhood);
    const items = new Map([...groups.incentives.items].filter(([id]) => id !== vault.yieldMarket.id));
    const facts = { ...completeFacts(robinhood), groups: { ...groups, incentives: { ...groups.incentives, items } } };
    const text = (from: ChainFacts) =>
      strategyOf(from, vault.id, robinhood).gaps.flatMap(({ field, message }) =>
        /^No incentive is counted/.test(message) ? [field] : [],
      );
    expect(text(completeFacts(robinhood))).toEqual([]);
    expect(text(facts)).toEqual(expect.arrayContaining(['yieldLegApyPct', 'totalCollateralApyPct']));
  });

  test('behavior: unknown incentives of the stock market alone leave the APY of the yield leg measured', () => {
    const lacking = withItem(completeFacts(robinhood), 'incentives', vault.stockMarket.id, { failure: timeout });
    const strategy = strategyOf(lacking, vault.id, robinhood);
    expect(gapOf(strategy, 'netBorrowApyPct')?.reason).toBe('SOURCE_FAILED');
    expect(gapOf(strategy, 'totalCollateralApyPct')).toBeUndefined();
    expect(strategy.totalCollateralApyPct).toBe(strategy.equityVault?.yieldLegApyPct);
  });

  test('behavior: incentives of the stock market count in the net APY, now and in history', () => {
    const plain = strategyOf(completeFacts(robinhood), vault.id, robinhood);
    const [startsAtMs, endsAtMs] = [NOW_MS - 100 * 86_400_000, NOW_MS + 86_400_000];
    const campaign = { id: 'c', symbol: 'X', aprPct: new Decimal(2), startsAtMs, endsAtMs };
    const steps = [{ atMs: startsAtMs, ratePct: new Decimal(2) }];
    let facts = completeFacts(robinhood);
    facts = withItem(facts, 'incentives', vault.stockMarket.id, { value: { borrow: [campaign], collateral: [] } });
    facts = withItem(facts, 'incentiveHistory', vault.stockMarket.id, {
      value: { campaigns: [{ ...campaign, side: 'borrow', steps }] },
    });
    const paid = strategyOf(facts, vault.id, robinhood);
    expect(Number(paid.netBorrowApyPct)).toBeCloseTo(Number(plain.netBorrowApyPct) - 2, 6);
    // Half of the deposit is borrowed: half of the two points is earned.
    const more = (a: string | undefined, b: string | undefined) => Number(a) - Number(b);
    expect(more(paid.defaultLeverage.leverageApyPct, plain.defaultLeverage.leverageApyPct)).toBeCloseTo(1, 1);
    for (const window of ['avg30d', 'avg60d', 'avg90d'] as const) {
      const [with2, without] = [paid.historicalLeverageApyPct?.[window], plain.historicalLeverageApyPct?.[window]];
      expect(more(with2, without), window).toBeCloseTo(1, 1);
    }
  });

  test('behavior: the freshness of the yield leg is that of its first part to become stale', () => {
    const strategy = strategyOf(completeFacts(robinhood), vault.id, robinhood);
    expect(strategy.freshness.collateralApy).toEqual({ asOfMs: NOW_MS - 60_000, staleAfterSec: 300 });
    const value = { apyPct: new Decimal(6) };
    const old = { value, asOfMs: NOW_MS - 86_400_000 };
    const aged = withItem(completeFacts(robinhood), 'collateralApy', vault.yieldMarket.collateral.address, old);
    expect(strategyOf(aged, vault.id, robinhood).freshness.collateralApy).toEqual({
      asOfMs: NOW_MS - 86_400_000,
      staleAfterSec: 43_200,
    });
  });

  test('behavior: leaves out a vault without its yield market, with a reason; its stock market stays', () => {
    const facts = withItem(completeFacts(robinhood), 'lendingState', vault.yieldMarket.id, { failure: timeout });
    const chain = composeChain(robinhood, facts, PARAMS);
    expect(chain.excluded.map((row) => row.marketId)).toContain(vault.id);
    expect(chain.markets.map((m) => m.market.id)).toContain(vault.stockMarket.id);
  });
});

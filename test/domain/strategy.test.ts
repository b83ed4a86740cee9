import { describe, expect, test } from 'vitest';
import { composeChain } from '../../src/domain/compose.ts';
import { CAMPAIGN_SIDES, type ChainFacts, emptyGroup } from '../../src/domain/facts.ts';
import { oracleTypeOf } from '../../src/domain/market/oracle-basis.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { ethereum, gapOf, robinhood, strategyOf, timeout } from './strategy-world.ts';
import { chainOf, completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

describe('composeStrategy', () => {
  const market = marketOf(ethereum, 'syrupUSDC', 'PYUSD');
  const key = { market: market.id, token: market.collateral.address, loan: market.loan.address };

  test('default: recomputed from the raw values', () => {
    const campaign = { startsAtMs: NOW_MS - DAY, endsAtMs: NOW_MS + 9 * DAY };
    const borrow = [
      { ...campaign, id: '1', symbol: 'MORPHO', aprPct: new Decimal('0.8'), url: 'https://campaign.example/1' },
      { ...campaign, id: '2', symbol: 'PYUSD', aprPct: new Decimal('0.456'), endsAtMs: NOW_MS + DAY },
      { ...campaign, id: '3', symbol: 'OLD', aprPct: new Decimal('9'), endsAtMs: NOW_MS },
    ];
    const collateral = [{ ...campaign, id: '4', symbol: 'SYRUP', aprPct: new Decimal('0.5') }];
    const source = { vault: key.loan, withdrawMarketId: market.id, assets: 250_000_000_000n, feeWei: 0n };
    let facts = withItem(completeFacts(ethereum), 'incentives', market.id, { value: { borrow, collateral } });
    facts = withItem(facts, 'sharedLiquidity', market.id, { value: { sources: [source] } });
    const strategy = strategyOf(facts, market.id);

    const state = facts.groups.lendingState.items.get(market.id)?.value;
    if (!state) throw new Error('no state');
    // Interest of 7,200 s at 1.198e9 WAD per second on 8.5M, to the third term of the protocol's Taylor series.
    const x = 1_198_000_000n * 7_200n;
    const WAD = 10n ** 18n;
    const interest = (8_500_000_000_000n * (x + (x * x) / (2n * WAD) + (x * x * x) / (6n * WAD * WAD))) / WAD;
    const usd = (assets: bigint) => new Decimal(assets.toString()).times('0.9998').shiftedBy(-6).toFixed(2);
    const borrowApy = Math.expm1(1.198e-9 * 31_536_000) * 100;
    const netBorrow = borrowApy - 1.256;
    const apyAt = (leverage: number) => (6.623456 * leverage - netBorrow * (leverage - 1)).toFixed(2);
    expect(strategy).toMatchObject({
      id: market.id,
      kind: 'loop',
      chainId: 1,
      correlated: true,
      collateral: { symbol: 'syrupUSDC', category: 'stable', maturity: null },
      loan: { symbol: 'PYUSD' },
      collateralApyPct: '6.12',
      collateralApySource: 'stableindex',
      yieldSustainabilityPct: { avg30d: '6.20', avg60d: '6.20', avg90d: '6.20' },
      borrowApyPct: borrowApy.toFixed(2),
      quarterlyBorrowApyPct: '3.45',
      netBorrowApyPct: netBorrow.toFixed(2),
      totalCollateralApyPct: '6.62',
      supplyUsd: usd(10_000_000_000_000n + interest),
      liquidityUsd: usd(1_500_000_000_000n),
      publicAllocatorLiquidityUsd: usd(1_750_000_000_000n),
      maxLeverage: '11.4',
      utilizationPct: '85.00',
      defaultLeverage: { leverage: '10.5', ltvPct: '90.5', leverageApyPct: apyAt(10.5) },
      ltvPct: { liquidation: '91.50', max: '91.25', safe: '90.50' },
      noSwapRoute: false,
      spiralHints: {
        exitLiquidityTier: { value: 'good', thresholds: { listingMaxPct: 2, depthCleanMaxPct: 1.5 } },
      },
      freshness: {
        borrow: { asOfMs: NOW_MS - 60_000, staleAfterSec: 300 },
        oracle: { asOfMs: NOW_MS - 60_000, staleAfterSec: 900 },
        collateralApy: { asOfMs: NOW_MS - 3_600_000, staleAfterSec: 43_200 },
        exitLiquidity: { asOfMs: NOW_MS - 60_000, staleAfterSec: 86_400 },
      },
      links: { app: `https://app.example/strategies/${market.id}?chainId=1` },
      visibility: { visible: true },
    });
    expect(strategy.leverageLadder.map((entry) => entry.leverageApyPct)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11.4].map(apyAt),
    );
    expect(strategy.curator).toBeUndefined();
    // The window ends with the collateral's measurement an hour ago, so a campaign of one day ran 23 hours of the 30 days.
    const share = 23 / 24 / 30;
    const [earned, paid] = [6.2 + 0.5 * share, 3.45 - (0.8 + 0.456 + 9) * share];
    expect(strategy.historicalLeverageApyPct?.avg30d).toBe((earned * 10.5 - paid * 9.5).toFixed(2));
  });

  const present = completeFacts(ethereum);
  const running = [{ id: '1', symbol: 'M', aprPct: new Decimal(1), startsAtMs: NOW_MS - DAY, endsAtMs: NOW_MS + DAY }];
  /** A field of a strategy, or of its market, by its name in the schema. */
  const read = (facts: ChainFacts, strategy: Strategy, field: string): unknown => {
    const composed = composeChain(chainOf(strategy.chainId), facts, PARAMS).lookup.markets.get(strategy.marketId);
    if (!composed) throw new Error('the market is not composed');
    const { market, facts: marketFacts, collateralPrice, loanPrice, borrowIncentive, collateralIncentive } = composed;
    const { yieldSustainabilityPct: means, spiralHints, links } = strategy;
    const shown = {
      ...strategy,
      collateral: { ...market.collateral, maturesAt: market.collateral.maturity },
      collateralPrice: collateralPrice?.value.usd,
      loanPrice: loanPrice?.value.usd,
      ...(strategy.kind === 'loop' ? { collateralApyMeans: means } : { yieldLegApyMeans: means }),
      exitLiquidityTier: spiralHints?.exitLiquidityTier,
      links: { marketUrl: links?.market, yieldSourceUrl: undefined },
      oracle: { type: oracleTypeOf(marketFacts.oracle.value) },
      borrowIncentive,
      collateralIncentive,
    };
    return field
      .split('.')
      .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], shown);
  };

  /** Each optional field: facts in which it has a value, in which it is not known, and why. */
  const table: readonly (readonly [string, ChainFacts, ChainFacts, string])[] = [
    ['loanPrice', present, withItem(present, 'price', key.loan, { failure: timeout }), 'SOURCE_FAILED'],
    ['collateralPrice', present, unpriced(present), 'NOT_MEASURED'],
    ['supplyUsd', present, withItem(present, 'price', key.loan, { failure: timeout }), 'SOURCE_FAILED'],
    ['liquidityUsd', present, withItem(present, 'price', key.loan, {}), 'NOT_MEASURED'],
    [
      'publicAllocatorLiquidityUsd',
      present,
      withItem(present, 'sharedLiquidity', key.market, { failure: { ...timeout, reason: 'missing' } }),
      'SOURCE_FAILED',
    ],
    [
      'borrowIncentive',
      withItem(present, 'incentives', key.market, { value: { borrow: running, collateral: [] } }),
      withItem(present, 'incentives', key.market, { failure: timeout }),
      'SOURCE_FAILED',
    ],
    [
      'collateralIncentive',
      withItem(present, 'incentives', key.market, { value: { borrow: [], collateral: running } }),
      withItem(present, 'incentives', key.market, {}),
      'NOT_MEASURED',
    ],
    ['quarterlyBorrowApyPct', present, withItem(present, 'borrowHistory', key.market, {}), 'NOT_MEASURED'],
    [
      'historicalLeverageApyPct',
      present,
      withItem(present, 'borrowHistory', key.market, { value: { points: [] } }),
      'TOO_SHORT',
    ],
    [
      'collateralApyMeans',
      present,
      withItem(present, 'collateralApy', key.token, { value: { apyPct: new Decimal(6) } }),
      'NOT_MEASURED',
    ],
    [
      'exitLiquidityTier',
      present,
      withItem(present, 'exitLiquidity', key.token, { failure: { ...timeout, reason: 'implausible' } }),
      'IMPLAUSIBLE',
    ],
  ];

  test.each(table)('behavior: %s has a value when measured, otherwise a gap', (field, full, lacking, reason) => {
    const measured = strategyOf(full, market.id);
    expect(read(full, measured, field)).toBeTruthy();
    expect(gapOf(measured, field)).toBeUndefined();
    const missing = strategyOf(lacking, market.id);
    expect(read(lacking, missing, field)).toBeUndefined();
    expect(field.split('.').length > 1 || !(field in missing)).toBe(true);
    expect(gapOf(missing, field)?.reason).toBe(reason);
    if (reason === 'SOURCE_FAILED') expect(gapOf(missing, field)?.sinceMs).toBe(NOW_MS - 5_000);
  });

  test('behavior: `null` = measured, there is none', () => {
    const strategy = strategyOf(present, market.id);
    for (const field of ['borrowIncentive', 'collateralIncentive']) {
      expect(read(present, strategy, field)).toBeNull();
    }
    expect(strategy.collateral.maturity).toBeNull();
    expect(gapOf(strategy, 'borrowIncentive')?.reason).toBe('NONE');
    expect(gapOf(strategy, 'collateral.maturesAt')?.reason).toBe('NOT_APPLICABLE');
  });

  test('behavior: an unmeasured incentive does not lower the borrow APY', () => {
    const strategy = strategyOf(withItem(present, 'incentives', key.market, { failure: timeout }), market.id);
    expect(strategy.netBorrowApyPct).toBe(strategy.borrowApyPct);
  });

  test('behavior: an unmeasured exit has the oldest age and no route, and the strategy stays listed', () => {
    const lacking = withItem(present, 'exitLiquidity', key.token, {});
    const strategy = strategyOf(lacking, market.id);
    expect(strategy.freshness.exitLiquidity.asOfMs).toBe(0);
    expect(strategy.noSwapRoute).toBe(true);
    expect(strategy.visibility).toMatchObject({ visible: true });
    for (const field of ['exitLiquidity', 'freshness.exitLiquidity', 'noSwapRoute']) {
      expect([field, gapOf(strategy, field)?.reason]).toEqual([field, 'NOT_MEASURED']);
    }
  });

  test('behavior: unmeasured incentives are not counted, with a gap on every number', () => {
    const lacking = withItem(present, 'incentives', market.id, { failure: timeout });
    const strategy = strategyOf(lacking, market.id);
    expect(strategy.netBorrowApyPct).toBe(strategy.borrowApyPct);
    expect(strategy.inputFreshness.incentives).toBeUndefined();
    const fields = [
      'borrowIncentive',
      'netBorrowApyPct',
      'totalCollateralApyPct',
      'leverageLadder',
      'defaultLeverage',
      'freshness.incentives',
    ];
    for (const field of fields) expect([field, gapOf(strategy, field)?.reason]).toEqual([field, 'SOURCE_FAILED']);
    expect(gapOf(strategyOf(present, market.id), 'netBorrowApyPct')).toBeUndefined();
  });

  test('behavior: prices have the age of the older one, incentives the age of their measurement', () => {
    const old = withItem(present, 'price', market.loan.address, {
      value: { usd: new Decimal(1) },
      asOfMs: NOW_MS - 800_000,
    });
    const { inputFreshness } = strategyOf(old, market.id);
    expect(inputFreshness.prices).toEqual({ asOfMs: NOW_MS - 800_000, staleAfterSec: 900 });
    expect(inputFreshness.incentives).toEqual({ asOfMs: NOW_MS - 60_000, staleAfterSec: 3_600 });
  });

  test('behavior: one yield above zero suffices, even if the others are negative', () => {
    const campaign = {
      id: 'a',
      symbol: 'MORPHO',
      aprPct: new Decimal('0.5'),
      startsAtMs: NOW_MS - 1,
      endsAtMs: NOW_MS + 1,
    };
    const losing = withItem(present, 'collateralApy', key.token, { value: { apyPct: new Decimal(-1) } });
    const hasYield = (facts: ChainFacts) =>
      strategyOf(facts, market.id).visibility.checks.find(({ name }) => name === 'has_yield');
    expect(hasYield(losing)).toMatchObject({ passed: false });
    const paid = withItem(losing, 'incentives', market.id, { value: { borrow: [], collateral: [campaign] } });
    expect(hasYield(paid)).toMatchObject({ passed: true, value: '0.50' });
  });

  test('behavior: a window beyond the history is absent, the others stay', () => {
    const fact = present.groups.collateralApy.items.get(key.token)?.value;
    const young = {
      apyPct: new Decimal(6),
      history: fact?.history ? fact.history.slice(-45) : [],
    };
    const strategy = strategyOf(withItem(present, 'collateralApy', key.token, { value: young }), market.id);
    expect(strategy.yieldSustainabilityPct).toEqual({ avg30d: '6.20' });
    expect(strategy.historicalLeverageApyPct).toEqual({ avg30d: '32.33' });
    expect(gapOf(strategy, 'collateralApyMeans.avg60dPct')?.reason).toBe('TOO_SHORT');
    expect(gapOf(strategy, 'historicalLeverageApyPct.avg90dPct')?.reason).toBe('TOO_SHORT');
  });

  test('behavior: recorded incentives count in the averages, also when only they have changed', () => {
    const before = strategyOf(present, market.id).historicalLeverageApyPct?.avg60d;
    const startsAtMs = NOW_MS - 200 * DAY;
    const steps = [{ atMs: startsAtMs, ratePct: new Decimal(1) }];
    const campaigns = CAMPAIGN_SIDES.map((side) => ({
      id: '1',
      side,
      symbol: 'X',
      startsAtMs,
      endsAtMs: NOW_MS + DAY,
      steps,
    }));
    const recorded = withItem(present, 'incentiveHistory', key.market, { value: { campaigns } });
    const after = strategyOf(recorded, market.id).historicalLeverageApyPct?.avg60d;
    expect([before, after]).toEqual(['32.33', (7.2 * 10.5 - 2.45 * 9.5).toFixed(2)]);
  });

  test('behavior: the field does not apply without a public allocator', () => {
    const loop = marketOf(robinhood, 'syrupUSDG', 'USDG');
    const strategy = strategyOf(completeFacts(robinhood), loop.id, robinhood);
    expect(strategy.publicAllocatorLiquidityUsd).toBeUndefined();
    expect(gapOf(strategy, 'publicAllocatorLiquidityUsd')?.reason).toBe('NOT_APPLICABLE');
  });

  test('behavior: a perp market explains its APY and keeps its negative carry', () => {
    const perp = marketOf(robinhood, 'wsNET', 'USDG');
    const strategy = strategyOf(completeFacts(robinhood), perp.id, robinhood);
    expect(strategy).toMatchObject({
      correlated: false,
      curator: 'Longbow',
      collateralApyPct: '0.00',
      collateralApySource: 'none',
      spiralHints: { profile: { value: 'leveraged_perp' } },
      visibility: { visible: true },
      maxLeverage: '2.6',
    });
    expect(Number(strategy.defaultLeverage.leverageApyPct)).toBeLessThan(0);
    expect(strategy.historicalLeverageApyPct?.avg90d).toBe('-5.52');
    expect(gapOf(strategy, 'collateralApyMeans')?.reason).toBe('NOT_APPLICABLE');
  });

  test('behavior: every empty optional field of every strategy has a gap', () => {
    const optional = [
      'curator',
      'pointsIncentive',
      'quarterlyBorrowApyPct',
      'borrowIncentive',
      'collateralIncentive',
      'supplyUsd',
      'liquidityUsd',
      'publicAllocatorLiquidityUsd',
      'historicalLeverageApyPct',
      ...['project', 'yieldSource', 'description', 'maturesAt', 'underlying'].map((n) => `collateral.${n}`),
      'loanPrice',
      'oracle.type',
      'exitLiquidityTier',
      'links.marketUrl',
      'links.yieldSourceUrl',
    ];
    for (const chain of [ethereum, robinhood]) {
      const facts = completeFacts(chain);
      for (const strategy of composeChain(chain, facts, PARAMS).strategies) {
        const means = strategy.kind === 'loop' ? 'collateralApyMeans' : 'yieldLegApyMeans';
        for (const field of [...optional, means]) {
          const value = read(facts, strategy, field);
          const explained = gapOf(strategy, field) !== undefined;
          expect([strategy.id, field, value === undefined || value === null]).toEqual([strategy.id, field, explained]);
        }
        const isLoop = strategy.kind === 'loop';
        expect(gapOf(strategy, 'profile') !== undefined).toBe(isLoop && !strategy.spiralHints?.profile);
        const fields = strategy.gaps.map((gap) => gap.field);
        expect(new Set(fields).size).toBe(fields.length);
      }
    }
  });
});

/** Without a price of any token that a collateral could be valued in. */
function unpriced(facts: ChainFacts): ChainFacts {
  return { ...facts, groups: { ...facts.groups, price: emptyGroup() } };
}

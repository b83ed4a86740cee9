import { MarketUtils, Market as SdkMarket } from '@morpho-org/blue-sdk';
import { describe, expect, test } from 'vitest';
import { composeChain, composeChainSteps } from '../../src/domain/compose.ts';
import type { ChainFacts, Failure } from '../../src/domain/facts.ts';
import { peggedTokens } from '../../src/domain/market/statics.ts';
import { exitTier } from '../../src/domain/strategy/exit.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { chainOf, completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

const ethereum = chainOf(1);
const robinhood = chainOf(4663);
const timeout: Failure = { reason: 'timeout', source: 'test', sinceMs: NOW_MS - 5_000 };

function strategyOf(facts: ChainFacts, id: string, chain = ethereum, params = PARAMS): Strategy {
  const found = composeChain(chain, facts, params).strategies.find((strategy) => strategy.id === id);
  if (!found) throw new Error(`strategy ${id} is not composed`);
  return found;
}

const gapOf = (strategy: Strategy, field: string) => strategy.gaps.find((gap) => gap.field === field);

describe('composeMarket', () => {
  test('behavior: accrual, utilization and borrow APY equal the SDK to the wei', () => {
    const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
    const blockTimestamp = BigInt(NOW_MS / 1_000);
    for (const elapsed of [0n, 1n, 3_600n, 30n * 86_400n]) {
      for (const borrowed of [0n, 5_000_000_000_000n, 9_000_000_000_000n, 10_000_000_000_000n]) {
        const raw = {
          totalSupplyAssets: 10_000_000_000_000n,
          totalSupplyShares: 9_900_000_000_000_000_000n,
          totalBorrowAssets: borrowed,
          totalBorrowShares: (borrowed * 985_000n) / 1n,
          lastUpdate: blockTimestamp - elapsed,
          fee: 100_000_000_000_000_000n,
          rateAtTarget: 1_268_391_679n,
        };
        const params = {
          loanToken: market.loan.address,
          collateralToken: market.collateral.address,
          oracle: market.oracle,
          irm: market.irm,
          lltv: market.lltv,
        };
        const sdk = new SdkMarket({ ...raw, params });
        const accrued = sdk.accrueInterest(blockTimestamp);
        const borrowRate = sdk.getAvgBorrowRate(blockTimestamp);
        const value = { ...raw, borrowRate, blockNumber: 1n, blockTimestamp };
        const facts = withItem(completeFacts(ethereum), 'lendingState', market.id, { value });
        const composed = composeChain(ethereum, facts, PARAMS).markets.find((m) => m.market.id === market.id);
        expect(composed).toMatchObject({
          totalSupplyAssets: accrued.totalSupplyAssets,
          totalBorrowAssets: accrued.totalBorrowAssets,
          totalSupplyShares: accrued.totalSupplyShares,
          totalBorrowShares: accrued.totalBorrowShares,
          liquidityAssets: accrued.liquidity,
          utilization: accrued.utilization,
        });
        expect(composed?.borrowApyPct.shiftedBy(-2).toNumber()).toBe(sdk.getAvgBorrowApy(blockTimestamp));
      }
    }
  });

  test.each([
    ['lendingState', (m: { id: string }) => m.id],
    ['oracle', (m: { oracle: string }) => m.oracle],
    ['collateralApy', (m: { collateral: { address: string } }) => m.collateral.address],
  ] as const)('behavior: without %s a market is left out, with its reason, and no other is', (group, keyOf) => {
    const market = marketOf(ethereum, 'wsrUSD', 'USDC');
    const facts = withItem(completeFacts(ethereum), group, keyOf(market), { failure: timeout });
    const chain = composeChain(ethereum, facts, PARAMS);
    expect(chain.excluded).toEqual([
      { marketId: market.id, symbol: 'wsrUSD/USDC', waitingFor: [{ group, reason: 'timeout' }] },
    ]);
    expect(chain.markets).toHaveLength(ethereum.markets.length - 1);
  });

  test('behavior: a matured principal token earns 0 with source `none`, and needs no upstream', () => {
    const market = marketOf(ethereum, 'PT-stcUSD', 'USDC');
    const facts = withItem(completeFacts(ethereum), 'collateralApy', market.collateral.address, { failure: timeout });
    const nowMs = (market.collateral.maturity as number) * 1_000;
    const matured = strategyOf(facts, market.id, ethereum, { ...PARAMS, nowMs });
    expect(matured).toMatchObject({ collateralApyPct: '0.00', collateralApySource: 'none' });
    expect(matured.visibility.visible).toBe(false);
    expect(composeChain(ethereum, facts, PARAMS).excluded.map((row) => row.marketId)).toEqual([market.id]);
  });

  test.each([
    ['0.89', false],
    ['0.9', true],
    ['1.1', true],
    ['1.11', false],
    ['0', false],
  ])('behavior: a stablecoin at %s USD is believed: %s', (usd, believed) => {
    const market = marketOf(ethereum, 'syrupUSDT', 'USDT');
    const price = { value: { usd: new Decimal(usd) } };
    const strategy = strategyOf(withItem(completeFacts(ethereum), 'price', market.loan.address, price), market.id);
    expect(strategy.loan.priceUsd !== undefined).toBe(believed);
    for (const field of ['loan.priceUsd', 'supplyUsd', 'liquidityUsd', 'publicAllocatorLiquidityUsd']) {
      expect(gapOf(strategy, field)?.reason).toBe(believed ? undefined : 'IMPLAUSIBLE');
    }
    expect(strategy.liquidityUsd !== undefined).toBe(believed);
    expect(strategy.visibility.checks.find((check) => check.name === 'liquidity')?.passed).toBe(true);
  });

  test('behavior: a price that floats is not held to the dollar; a measured collateral price wins over the derived', () => {
    const market = marketOf(ethereum, 'rETH', 'WETH');
    const facts = completeFacts(ethereum);
    expect(strategyOf(facts, market.id).collateral).toMatchObject({ priceUsd: '2675', priceSource: 'oracle' });
    const priced = withItem(facts, 'price', market.collateral.address, { value: { usd: new Decimal('2711.5') } });
    expect(strategyOf(priced, market.id).collateral).toMatchObject({ priceUsd: '2711.5', priceSource: 'test' });
    expect(strategyOf(priced, market.id).loan.priceUsd).toBe('2500');
  });
});

describe('peggedTokens', () => {
  test.each([
    [ethereum, ['AUSD', 'DAI', 'PYUSD', 'RLUSD', 'USDC', 'USDT', 'USDtb', 'frxUSD']],
    [robinhood, ['USDG', 'USDe']],
  ])('default: the dollars of the catalog, and nothing that earns or floats', (chain, symbols) => {
    const pegged = chain.tokens.filter((token) => peggedTokens(chain).has(token.address));
    expect(pegged.map((token) => token.symbol).sort()).toEqual(symbols);
  });
});

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
      collateral: { symbol: 'syrupUSDC', category: 'stable', isPt: false, maturity: null, priceUsd: '1.069786' },
      loan: { symbol: 'PYUSD', decimals: 6, priceUsd: '0.9998' },
      collateralApyPct: '6.12',
      collateralApySource: 'stableindex',
      yieldSustainabilityPct: { avg30d: '6.20', avg60d: '6.20', avg90d: '6.20' },
      borrowApyPct: borrowApy.toFixed(2),
      quarterlyBorrowApyPct: '3.45',
      borrowIncentive: {
        aprPct: '1.26',
        breakdown: [
          { symbol: 'MORPHO', aprPct: '0.80' },
          { symbol: 'PYUSD', aprPct: '0.46' },
        ],
        campaignUrl: 'https://campaign.example/1',
        endsAtMs: NOW_MS + DAY,
      },
      collateralIncentive: { aprPct: '0.50', breakdown: [{ symbol: 'SYRUP', aprPct: '0.50' }] },
      netBorrowApyPct: netBorrow.toFixed(2),
      supplyUsd: usd(10_000_000_000_000n + interest),
      liquidityUsd: usd(1_500_000_000_000n),
      publicAllocatorLiquidityUsd: usd(1_750_000_000_000n),
      maxLeverage: '11.4',
      utilizationPct: '85.00',
      defaultLeverage: { leverage: '10.5', ltvPct: '90.5', leverageApyPct: apyAt(10.5) },
      ltvPct: { liquidation: '91.50', max: '91.25', safe: '90.50' },
      oracle: { address: market.oracle },
      exitLiquidity: {
        measured: true,
        asOfMs: NOW_MS - 60_000,
        slippagePct: { '100000': '0.04', '500000': '0.20', '1000000': '0.90', '5000000': '1.70' },
      },
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
    expect(strategy).not.toHaveProperty('curator');
    // The window ends with the collateral's measurement an hour ago, so its incentive ran 23 hours of the 30 days; the recorded
    // borrow incentives are none.
    const recorded = 6.2 + (0.5 * 23) / 24 / 30;
    expect(strategy.historicalLeverageApyPct?.avg30d).toBe((recorded * 10.5 - 3.45 * 9.5).toFixed(2));
  });

  const present = completeFacts(ethereum);
  const running = [{ id: '1', symbol: 'M', aprPct: new Decimal(1), startsAtMs: NOW_MS - DAY, endsAtMs: NOW_MS + DAY }];
  const read = (strategy: Strategy, field: string): unknown =>
    field.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], strategy);

  /** Each optional field: facts in which it has a value, in which it is not known, and why. */
  const table: readonly (readonly [string, ChainFacts, ChainFacts, string])[] = [
    ['loan.priceUsd', present, withItem(present, 'price', key.loan, { failure: timeout }), 'SOURCE_FAILED'],
    ['collateral.priceUsd', present, withItem(present, 'price', key.loan, {}), 'NOT_MEASURED'],
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
      'yieldSustainabilityPct',
      present,
      withItem(present, 'collateralApy', key.token, { value: { apyPct: new Decimal(6) } }),
      'NOT_MEASURED',
    ],
    [
      'spiralHints.exitLiquidityTier',
      present,
      withItem(present, 'exitLiquidity', key.token, { failure: { ...timeout, reason: 'implausible' } }),
      'IMPLAUSIBLE',
    ],
  ];

  test.each(table)(
    'behavior: %s has a value when measured, is absent and explained when not',
    (field, full, lacking, reason) => {
      const measured = strategyOf(full, market.id);
      expect(read(measured, field)).toBeTruthy();
      expect(gapOf(measured, field)).toBeUndefined();
      const missing = strategyOf(lacking, market.id);
      expect(read(missing, field)).toBeUndefined();
      expect(field.split('.').length > 1 || !(field in missing)).toBe(true);
      expect(gapOf(missing, field)?.reason).toBe(reason);
      if (reason === 'SOURCE_FAILED') expect(gapOf(missing, field)?.sinceMs).toBe(NOW_MS - 5_000);
    },
  );

  test('behavior: `null` = measured, there is none', () => {
    const strategy = strategyOf(present, market.id);
    expect(strategy).toMatchObject({ borrowIncentive: null, collateralIncentive: null });
    expect(strategy.collateral).toMatchObject({ maturity: null, maturityDate: null });
    expect(gapOf(strategy, 'borrowIncentive')?.reason).toBe('NONE');
    expect(gapOf(strategy, 'collateral.maturity')?.reason).toBe('NOT_APPLICABLE');
  });

  test('behavior: an incentive that is not measured lowers nothing', () => {
    const strategy = strategyOf(withItem(present, 'incentives', key.market, { failure: timeout }), market.id);
    expect(strategy.netBorrowApyPct).toBe(strategy.borrowApyPct);
  });

  test('behavior: an exit that was never measured is as old as the market', () => {
    const lacking = withItem(present, 'exitLiquidity', key.token, {});
    expect(strategyOf(lacking, market.id).exitLiquidity).toEqual({ measured: false });
    expect(strategyOf(lacking, market.id).freshness.exitLiquidity).toMatchObject({
      asOfMs: lacking.groups.lendingState.items.get(market.id)?.asOfMs,
    });
  });

  test('behavior: a window the history does not cover is absent, the others stay', () => {
    const fact = present.groups.collateralApy.items.get(key.token)?.value;
    const young = { apyPct: new Decimal(6), history: fact?.history?.slice(-45) ?? [] };
    const strategy = strategyOf(withItem(present, 'collateralApy', key.token, { value: young }), market.id);
    expect(strategy.yieldSustainabilityPct).toEqual({ avg30d: '6.20' });
    expect(strategy.historicalLeverageApyPct).toEqual({ avg30d: '32.33' });
    expect(gapOf(strategy, 'yieldSustainabilityPct.avg60d')?.reason).toBe('TOO_SHORT');
    expect(gapOf(strategy, 'historicalLeverageApyPct.avg90d')?.reason).toBe('TOO_SHORT');
  });

  test('behavior: recorded incentives count in the averages, also when only they have changed', () => {
    const before = strategyOf(present, market.id).historicalLeverageApyPct?.avg60d;
    const points = [{ atMs: NOW_MS - 200 * DAY, aprPct: new Decimal(1) }];
    const recorded = withItem(present, 'incentiveHistory', key.market, { value: { points, collateralPoints: points } });
    const after = strategyOf(recorded, market.id).historicalLeverageApyPct?.avg60d;
    expect([before, after]).toEqual(['32.33', (7.2 * 10.5 - 2.45 * 9.5).toFixed(2)]);
  });

  test('behavior: where the chain has no public allocator the field does not apply', () => {
    const loop = marketOf(robinhood, 'syrupUSDG', 'USDG');
    const strategy = strategyOf(completeFacts(robinhood), loop.id, robinhood);
    expect(strategy).not.toHaveProperty('publicAllocatorLiquidityUsd');
    expect(gapOf(strategy, 'publicAllocatorLiquidityUsd')?.reason).toBe('NOT_APPLICABLE');
  });

  test('behavior: a perp market says what its APY means, and keeps its negative carry', () => {
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
    expect(gapOf(strategy, 'yieldSustainabilityPct')?.reason).toBe('NOT_APPLICABLE');
  });

  test('behavior: every empty optional field of every strategy is explained', () => {
    const optional = [
      'curator',
      'yieldSustainabilityPct',
      'pointsIncentive',
      'quarterlyBorrowApyPct',
      'borrowIncentive',
      'collateralIncentive',
      'supplyUsd',
      'liquidityUsd',
      'publicAllocatorLiquidityUsd',
      'historicalLeverageApyPct',
      'equityVault',
      ...['project', 'yieldSource', 'description', 'priceUsd', 'maturity', 'underlying'].map((n) => `collateral.${n}`),
      'loan.priceUsd',
      'oracle.type',
      'spiralHints.profile',
      'spiralHints.exitLiquidityTier',
      'links.market',
      'links.yieldSource',
    ];
    for (const chain of [ethereum, robinhood]) {
      for (const strategy of composeChain(chain, completeFacts(chain), PARAMS).strategies) {
        for (const field of optional) {
          const value = read(strategy, field);
          const explained = gapOf(strategy, field) !== undefined;
          expect([strategy.id, field, value === undefined || value === null]).toEqual([strategy.id, field, explained]);
        }
        const fields = strategy.gaps.map((gap) => gap.field);
        expect(new Set(fields).size).toBe(fields.length);
      }
    }
  });
});

describe('visibilityOf', () => {
  const facts = completeFacts(ethereum);
  const checksOf = (strategy: Strategy) =>
    Object.fromEntries(strategy.visibility.checks.map((check) => [check.name, check]));

  test('behavior: some yield is needed, from the collateral or an incentive', () => {
    const market = marketOf(ethereum, 'sUSDS', 'AUSD');
    const zero = withItem(facts, 'collateralApy', market.collateral.address, { value: { apyPct: new Decimal(0) } });
    const strategy = strategyOf(zero, market.id);
    expect(strategy.visibility.visible).toBe(false);
    expect(checksOf(strategy).has_yield).toMatchObject({ passed: false, value: '0.00', threshold: '0' });
    const campaign = { id: '1', symbol: 'M', aprPct: new Decimal(1), startsAtMs: NOW_MS, endsAtMs: NOW_MS + 1 };
    const paid = withItem(zero, 'incentives', market.id, { value: { borrow: [campaign], collateral: [] } });
    expect(strategyOf(paid, market.id).visibility.visible).toBe(true);
  });

  test('behavior: a swap route is needed', () => {
    const curated = strategyOf(facts, marketOf(ethereum, 'sNUSD', 'USDC').id);
    expect(curated.noSwapRoute).toBe(true);
    expect(checksOf(curated).swap_route?.passed).toBe(false);
    const market = marketOf(ethereum, 'reUSD', 'USDC');
    const none = { '100000': null, '500000': null, '1000000': null, '5000000': null };
    const swept = withItem(facts, 'exitLiquidity', market.collateral.address, { value: { slippagePct: none } });
    const strategy = strategyOf(swept, market.id);
    expect(strategy).toMatchObject({ noSwapRoute: true, visibility: { visible: false } });
    expect(strategy.spiralHints?.exitLiquidityTier?.value).toBe('thin');
    expect(gapOf(strategy, 'exitLiquidity.slippagePct.100000')?.reason).toBe('NONE');
  });

  test('behavior: a principal token must be more than the minimum before its maturity', () => {
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

  test('behavior: liquidity must be above the floor', () => {
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
        stockMarketId: vault.stockMarket.id,
        yieldStrategyId: vault.yieldMarket.id,
        targetLtvPct: '50.00',
        maxStockLtvPct: '55.00',
        yieldLegApyPct: leg.toFixed(2),
      },
      // Both legs over 30 days: 6.2 * 10.5 − 3.45 * 9.5 = 32.325, and half of what is above the stock debt's 3.45.
      yieldSustainabilityPct: { avg30d: '32.33' },
      historicalLeverageApyPct: { avg30d: '14.44' },
      visibility: { visible: true },
    });
    expect(strategy.spiralHints).not.toHaveProperty('profile');
  });

  test('behavior: the yield leg is as fresh as the first of its parts to become stale', () => {
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

  test('behavior: without its yield market the vault is left out with a reason, its stock market stays', () => {
    const facts = withItem(completeFacts(robinhood), 'lendingState', vault.yieldMarket.id, { failure: timeout });
    const chain = composeChain(robinhood, facts, PARAMS);
    expect(chain.excluded.map((row) => row.marketId)).toContain(vault.id);
    expect(chain.markets.map((m) => m.market.id)).toContain(vault.stockMarket.id);
  });
});

describe('composeChainSteps', () => {
  test('behavior: in steps it is the same as at once', () => {
    const facts = completeFacts(ethereum, 7);
    const steps = composeChainSteps(ethereum, facts, PARAMS, 10);
    const done: number[] = [];
    let step = steps.next();
    for (; !step.done; step = steps.next()) done.push(step.value);
    expect(done).toEqual([10, 20]);
    expect(step.value).toEqual(composeChain(ethereum, facts, PARAMS));
    expect(step.value).toMatchObject({ chainId: 1, version: 7, asOfMs: facts.publishedMs, excluded: [] });
  });

  test('behavior: tells when time alone changes the result', () => {
    const facts = completeFacts(ethereum);
    const maturity = Math.min(...ethereum.tokens.flatMap((token) => token.maturity ?? [])) * 1_000;
    expect(composeChain(ethereum, facts, PARAMS).recomposeAtMs).toBe(maturity - 7 * DAY);
    const market = marketOf(ethereum, 'sDOLA', 'frxUSD');
    const ending = { id: '1', symbol: 'M', aprPct: new Decimal(1), startsAtMs: 0, endsAtMs: NOW_MS + 5_000 };
    const paid = withItem(facts, 'incentives', market.id, { value: { borrow: [ending], collateral: [] } });
    expect(composeChain(ethereum, paid, PARAMS).recomposeAtMs).toBe(NOW_MS + 5_000);
  });

  test('behavior: nothing known composes nothing, and names every market', () => {
    const facts = { ...completeFacts(ethereum) };
    const empty = {
      ...facts,
      groups: { ...facts.groups, lendingState: { ...facts.groups.lendingState, items: new Map() } },
    };
    const chain = composeChain(ethereum, empty, PARAMS);
    expect(chain.strategies).toEqual([]);
    expect(chain.excluded).toHaveLength(ethereum.markets.length);
    expect(chain.excluded[0]?.waitingFor).toEqual([{ group: 'lendingState', reason: 'not_measured' }]);
  });
});

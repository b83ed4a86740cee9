import { Market as SdkMarket } from '@morpho-org/blue-sdk';
import { describe, expect, test } from 'vitest';
import { composeChain } from '../../src/domain/compose.ts';
import { type ChainFacts, DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import { priceContext, tokenPrice } from '../../src/domain/market/prices.ts';
import { peggedTokens } from '../../src/domain/market/statics.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { NotEligibleError } from '../../src/transactions/errors.ts';
import { requireSoundPrices } from '../../src/transactions/guards.ts';
import { ethereum, gapOf, robinhood, strategyOf, timeout } from './strategy-world.ts';
import { CONTRACT, completeFacts, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

const composedOf = (facts: ChainFacts, id: string) =>
  composeChain(ethereum, facts, PARAMS).markets.find(({ market }) => market.id === id);
const loanUsd = (facts: ChainFacts, id: string) => composedOf(facts, id)?.loanPrice?.value.usd.toFixed();

describe('composeMarket', () => {
  test("behavior: limits use the contract's buffer, or the documented one with a gap", () => {
    const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
    const composed = (facts: ChainFacts) =>
      composeChain(ethereum, facts, PARAMS).markets.find(({ market: { id } }) => id === market.id);
    const facts = completeFacts(ethereum);
    const wide = withItem(facts, 'deployment', DEPLOYMENT_KEY, {
      value: { ...CONTRACT, liquidationBuffer: 25n * 10n ** 15n },
    });
    expect(composed(wide)?.maxLtvPct.toFixed()).toBe('89');
    expect(composed(wide)?.safeLtvPct.toFixed()).toBe('88.25');
    expect(strategyOf(wide, market.id)).toMatchObject({ ltvPct: { max: '89.00', safe: '88.25' }, maxLeverage: '9.1' });
    expect(composed(wide)?.gaps.filter(({ field }) => field.endsWith('LtvPct'))).toEqual([]);
    const limited = ['ltvLimits.maxPct', 'maxLeverage', 'ltvLimits.safePct'];
    const silent = { ...CONTRACT, liquidationBuffer: undefined };
    for (const [unknown, reason] of [
      [withItem(facts, 'deployment', DEPLOYMENT_KEY, { failure: timeout }), 'SOURCE_FAILED'],
      [withItem(facts, 'deployment', DEPLOYMENT_KEY, { value: silent }), 'NOT_MEASURED'],
    ] as const) {
      const strategy = strategyOf(unknown, market.id);
      expect(strategy.ltvPct).toMatchObject({ max: '91.25', safe: '90.50' });
      for (const field of limited) expect(gapOf(strategy, field)).toMatchObject({ reason });
      expect(gapOf(strategy, 'ltvLimits.maxPct')?.message).toContain('0.25 points');
    }
  });

  test('behavior: fees follow the contract and the kind of market, or the documented rates with a gap', () => {
    const [correlated, perp] = [marketOf(ethereum, 'sUSDe', 'PYUSD'), marketOf(ethereum, 'WBTC', 'USDC')];
    const facts = completeFacts(ethereum);
    const taking = withItem(facts, 'deployment', DEPLOYMENT_KEY, {
      value: { ...CONTRACT, yieldFee: 10n ** 17n, depositFee: 25n * 10n ** 14n },
    });
    const freshness = { asOfMs: expect.any(Number), staleAfterSec: 900 };
    const reported = { treasury: CONTRACT.treasury, freshness };
    expect(strategyOf(taking, correlated.id).fees).toEqual({ yieldFeePct: '10', depositFeePct: '0', ...reported });
    expect(strategyOf(taking, perp.id).fees).toEqual({ yieldFeePct: '0', depositFeePct: '0.25', ...reported });
    const other = withItem(taking, 'marketSupport', perp.id, { value: { isCorrelated: true } });
    expect(strategyOf(other, perp.id).fees).toMatchObject({ yieldFeePct: '10', depositFeePct: '0' });
    const feeGaps = (known: ChainFacts, id: typeof perp.id) =>
      strategyOf(known, id).gaps.flatMap(({ field, reason }) =>
        field.startsWith('fees') ? [`${field} ${reason}`] : [],
      );
    expect(feeGaps(taking, perp.id)).toEqual([]);
    const silent = withItem(facts, 'deployment', DEPLOYMENT_KEY, { value: { swapRouters: [], operators: [] } });
    expect(strategyOf(silent, correlated.id).fees).toEqual({ yieldFeePct: '5', depositFeePct: '0', freshness });
    expect(feeGaps(silent, correlated.id)).toEqual(['fees.yieldFeePct NOT_MEASURED', 'fees.treasury NOT_MEASURED']);
    expect(gapOf(strategyOf(silent, correlated.id), 'fees.yieldFeePct')?.message).toContain('The documented 5 %');
    const failed = withItem(facts, 'deployment', DEPLOYMENT_KEY, { failure: timeout });
    expect(strategyOf(failed, perp.id).fees).toEqual({ yieldFeePct: '0', depositFeePct: '1' });
    expect(feeGaps(failed, perp.id)).toEqual([
      'fees.depositFeePct SOURCE_FAILED',
      'fees.treasury SOURCE_FAILED',
      'fees.freshness SOURCE_FAILED',
    ]);
    const kindless = withItem(facts, 'marketSupport', perp.id, { value: {} });
    expect(feeGaps(kindless, perp.id)).toEqual(['fees.yieldFeePct NOT_MEASURED', 'fees.depositFeePct NOT_MEASURED']);
    const { fees } = composeChain(ethereum, failed, PARAMS);
    expect(fees).toMatchObject({ yieldFee: 5n * 10n ** 16n, depositFee: 10n ** 16n });
    expect(fees.gaps.map(({ field }) => field)).toEqual([
      'fees.yieldFeePct',
      'fees.depositFeePct',
      'fees.treasury',
      'fees.freshness',
    ]);
  });

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
        expect(composed?.borrowApyPct.shiftedBy(-2).toNumber()).toBe(sdk.getBorrowApy(blockTimestamp));
      }
    }
  });

  test.each([
    ['lendingState', (m: { id: string }) => m.id],
    ['oracle', (m: { oracle: string }) => m.oracle],
    ['collateralApy', (m: { collateral: { address: string } }) => m.collateral.address],
  ] as const)('behavior: leaves out only the market without %s, with its reason', (group, keyOf) => {
    const market = marketOf(ethereum, 'wsrUSD', 'USDC');
    const facts = withItem(completeFacts(ethereum), group, keyOf(market), { failure: timeout });
    const chain = composeChain(ethereum, facts, PARAMS);
    expect(chain.excluded).toEqual([
      { marketId: market.id, symbol: 'wsrUSD/USDC', waitingFor: [{ group, reason: 'timeout' }] },
    ]);
    expect(chain.markets).toHaveLength(ethereum.markets.length - 1);
  });

  test('behavior: a matured principal token has a yield of 0 with source `none`, and needs no upstream', () => {
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
  ])('behavior: a stablecoin at %s USD is within its peg: %s', (usd, inPeg) => {
    const market = marketOf(ethereum, 'syrupUSDT', 'USDT');
    const price = { value: { usd: new Decimal(usd) } };
    const strategy = strategyOf(withItem(completeFacts(ethereum), 'price', market.loan.address, price), market.id);
    const codes = strategy.spiralHints?.warnings?.map(({ code }) => code) ?? [];
    expect(codes.includes('off_peg')).toBe(!inPeg);
    if (inPeg) expect(() => requireSoundPrices(strategy)).not.toThrow();
    else expect(() => requireSoundPrices(strategy)).toThrow(NotEligibleError);
  });

  test('behavior: rejects a price of zero or less', () => {
    const market = marketOf(ethereum, 'syrupUSDT', 'USDT');
    const strategy = strategyOf(
      withItem(completeFacts(ethereum), 'price', market.loan.address, { value: { usd: new Decimal(0) } }),
      market.id,
    );
    for (const field of ['loanPrice', 'supplyUsd', 'liquidityUsd', 'publicAllocatorLiquidityUsd']) {
      expect(gapOf(strategy, field)?.reason).toBe('IMPLAUSIBLE');
    }
    expect(strategy.liquidityUsd).toBeUndefined();
    expect(strategy.visibility.checks.find((check) => check.name === 'liquidity')?.passed).toBe(true);
  });

  test('behavior: warns of an unconfirmed value beside the last good one, and the worse of both decides the listing once it is repeated', () => {
    const market = marketOf(ethereum, 'syrupUSDT', 'USDT');
    const suspect = (value: string, readings = 2) => ({ value: new Decimal(value), readings });
    const failure = { reason: 'implausible', source: 'test', sinceMs: NOW_MS } as const;
    let facts = withItem(completeFacts(ethereum), 'price', market.loan.address, {
      value: { usd: new Decimal(1) },
      failure: { ...failure, suspect: suspect('0.0001') },
    });
    const strategy = strategyOf(facts, market.id);
    expect(loanUsd(facts, market.id)).toBe('1');
    expect(strategy.spiralHints?.warnings?.map(({ code }) => code)).toEqual(['suspect_price', 'off_peg']);
    expect(() => requireSoundPrices(strategy)).toThrow(NotEligibleError);
    expect(strategy.visibility.checks.find(({ name }) => name === 'liquidity')?.passed).toBe(false);
    const once = withItem(facts, 'price', market.loan.address, {
      value: { usd: new Decimal(1) },
      failure: { ...failure, suspect: suspect('0.0001', 1) },
    });
    expect(strategyOf(once, market.id).visibility.visible).toBe(true);
    facts = withItem(completeFacts(ethereum), 'collateralApy', market.collateral.address, {
      value: { apyPct: new Decimal(6) },
      failure: { ...failure, suspect: suspect('-40') },
    });
    const losing = strategyOf(facts, market.id);
    expect(losing.collateralApyPct).toBe('6.00');
    expect(losing.spiralHints?.warnings?.[0]).toMatchObject({ code: 'suspect_apy', value: '-40' });
    expect(losing.visibility.checks.find(({ name }) => name === 'has_yield')?.passed).toBe(false);
    facts = withItem(completeFacts(ethereum), 'incentiveHistory', market.id, {
      failure: { ...failure, suspect: suspect('400') },
    });
    const { items } = facts.groups.incentiveHistory;
    (items as Map<string, unknown>).delete(market.id);
    const unrecorded = strategyOf(facts, market.id);
    expect(unrecorded.historicalLeverageApyPct).toBeUndefined();
    expect(gapOf(unrecorded, 'historicalLeverageApyPct')?.reason).toBe('IMPLAUSIBLE');
    facts = withItem(completeFacts(ethereum), 'exitLiquidity', market.collateral.address, {
      failure: { ...failure, suspect: suspect('99') },
    });
    const [warning] = strategyOf(facts, market.id).spiralHints?.warnings ?? [];
    expect(warning).toMatchObject({ code: 'suspect_exit', field: 'exitLiquidity', value: '99' });
  });

  test.each([0.55, 1e12])(
    'behavior: shows an oracle at %s of the price with a warning, and refuses to open',
    (factor) => {
      const market = marketOf(ethereum, 'rETH', 'WETH');
      const complete = withItem(completeFacts(ethereum), 'price', market.collateral.address, {
        value: { usd: new Decimal(2_675) },
      });
      const price = BigInt(new Decimal(1.07e36).times(factor).toFixed(0));
      const facts = withItem(complete, 'oracle', market.oracle, { value: { price, blockNumber: 1n } });
      const strategy = strategyOf(facts, market.id);
      expect(strategy.spiralHints?.warnings?.map(({ code }) => code)).toEqual(['oracle_divergence']);
      expect(() => requireSoundPrices(strategy)).toThrow(NotEligibleError);
      expect(strategyOf(complete, market.id).spiralHints?.warnings).toBeUndefined();
    },
  );

  test('behavior: does not compare a floating price with the dollar; prefers a measured collateral price to a derived one', () => {
    const market = marketOf(ethereum, 'rETH', 'WETH');
    const facts = completeFacts(ethereum);
    const priceOf = (of: ChainFacts) => composedOf(of, market.id)?.collateralPrice;
    expect(priceOf(facts)).toMatchObject({ value: { usd: new Decimal(2675) }, source: 'oracle' });
    const priced = withItem(facts, 'price', market.collateral.address, { value: { usd: new Decimal('2711.5') } });
    expect(priceOf(priced)).toMatchObject({ value: { usd: new Decimal('2711.5') }, source: 'test' });
    expect(loanUsd(priced, market.id)).toBe('2500');
  });
});

describe('tokenPrice', () => {
  const contextOf = (facts: ChainFacts) => priceContext(ethereum, facts);

  test('default: every collateral and loan of a complete chain has one price, equal in all markets', () => {
    const facts = completeFacts(ethereum);
    for (const { market, collateralPrice, loanPrice } of composeChain(ethereum, facts, PARAMS).markets) {
      for (const [token, shown] of [
        [market.collateral, collateralPrice],
        [market.loan, loanPrice],
      ] as const) {
        expect([token.symbol, tokenPrice(token, 'usd', contextOf(facts)).price?.value.usd]).toEqual([
          token.symbol,
          shown?.value.usd,
        ]);
        expect(shown).toBeDefined();
      }
    }
  });

  test('behavior: the native token has the price of its wrapped form', () => {
    const facts = withItem(completeFacts(ethereum), 'price', ethereum.wrappedNative?.address ?? '', {
      value: { usd: new Decimal(2_345) },
    });
    expect(tokenPrice(ethereum.native, 'usd', contextOf(facts)).price?.value.usd.toFixed()).toBe('2345');
  });

  test('behavior: a derived price is as old as the older of oracle and loan price', () => {
    const market = marketOf(ethereum, 'rETH', 'WETH');
    const old = withItem(completeFacts(ethereum), 'price', market.loan.address, {
      value: { usd: new Decimal(2_500) },
      asOfMs: NOW_MS - 700_000,
    });
    const { price } = tokenPrice(market.collateral, 'usd', contextOf(old));
    expect(price).toMatchObject({ source: 'oracle', asOfMs: NOW_MS - 700_000 });
  });
});

describe('peggedTokens', () => {
  test.each([
    [ethereum, ['AUSD', 'DAI', 'PYUSD', 'RLUSD', 'USDC', 'USDT', 'USDtb', 'frxUSD']],
    [robinhood, ['USDG', 'USDe']],
  ])('default: only dollar stablecoins of the catalog, no yield-bearing or floating tokens', (chain, symbols) => {
    const pegged = chain.tokens.filter((token) => peggedTokens(chain).has(token.address));
    expect(pegged.map((token) => token.symbol).sort()).toEqual(symbols);
  });
});

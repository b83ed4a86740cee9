import { describe, expect, test } from 'vitest';
import type { EquityVault } from '../../src/catalog/types.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { composeEquityStrategy } from '../../src/domain/equity/compose.ts';
import { type ChainFacts, DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import { gapsOfStrategy } from '../../src/domain/strategy/compose.ts';
import { anyLacksRoute, formatNoRoute } from '../../src/domain/strategy/exit.ts';
import { addMarketFields, linksOf, type StrategyDraft, wadPct } from '../../src/domain/strategy/parts.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { ethereum, gapOf, robinhood, strategyOf, timeout } from './strategy-world.ts';
import { completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

/** Strategies at each limit: exactly on it, and a unit beside it. */

const of = (value: number | string) => new Decimal(value);
const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
const facts = completeFacts(ethereum);
const suspect = (value: string) =>
  ({ reason: 'implausible', source: 'test', sinceMs: NOW_MS, suspect: { value: of(value), readings: 2 } }) as const;

describe('fields of a market', () => {
  test.each([
    [0n, '0.00'],
    [49_999_999_999_999n, '0.00'],
    [50_000_000_000_000n, '0.01'],
    [999_949_999_999_999_999n, '99.99'],
    [999_950_000_000_000_000n, '100.00'],
    [123_450_000_000_000_000n, '12.35'],
  ])('wadPct: %s is %s, half up', (fraction, shown) => {
    expect(wadPct(fraction)).toBe(shown);
  });

  test('behavior: an incentive is one line per symbol, and ends with the first campaign that does', () => {
    const composed = composeChain(ethereum, facts, PARAMS).markets.find((one) => one.market.id === market.id);
    const strategy = {} as StrategyDraft;
    addMarketFields(strategy, composed as never);
    expect(strategy.oraclePriceAsOfMs).toBe(1_760_000_000_000);
  });

  test('behavior: links are made from the configured templates', () => {
    const links = (templates: Parameters<typeof linksOf>[2]) => {
      const gaps: { readonly field: string }[] = [];
      const made = linksOf('s' as Strategy['id'], market, templates, gaps as never);
      return [made, gaps.map(({ field }) => field)];
    };
    const page = `https://m/1/${market.id}/1`;
    const template = 'https://m/{chainId}/{marketId}/{chainId}';
    expect(links({ appUrl: 'https://a', marketUrlTemplate: template })).toEqual([
      { app: 'https://a/strategies/s?chainId=1', market: page },
      ['links.yieldSourceUrl'],
    ]);
    expect(links({ marketUrlTemplate: template })).toEqual([
      { app: undefined, market: page },
      ['links.appUrl', 'links.yieldSourceUrl'],
    ]);
    expect(links({ appUrl: 'https://a' })[1]).toEqual(['links.marketUrl', 'links.yieldSourceUrl']);
    expect(links({})).toEqual([undefined, ['links.appUrl', 'links.marketUrl', 'links.yieldSourceUrl']]);
  });

  test('behavior: an unknown exit is no route, with its reason', () => {
    const gaps: object[] = [];
    expect([
      formatNoRoute('f', false, undefined, gaps as never),
      formatNoRoute('f', true, undefined, gaps as never),
    ]).toEqual([false, true]);
    expect(gaps).toEqual([]);
    expect(formatNoRoute('f', null, undefined, gaps as never)).toBe(true);
    expect(gaps).toEqual([
      { field: 'f', reason: 'NOT_MEASURED', message: 'No route is assumed. It was not measured yet.' },
    ]);
    expect([anyLacksRoute(false, true, null), anyLacksRoute(false, null), anyLacksRoute(false, false)]).toEqual([
      true,
      null,
      false,
    ]);
    const missing = withItem(facts, 'exitLiquidity', market.collateral.address, { failure: timeout });
    const strategy = strategyOf(missing, market.id);
    expect(strategy.spiralHints?.exitLiquidityTier).toBeUndefined();
    for (const field of ['exitLiquidityTier', 'exitLiquidity', 'freshness.exitLiquidity', 'noSwapRoute']) {
      expect(gapOf(strategy, field)).toMatchObject({ reason: 'SOURCE_FAILED', sinceMs: timeout.sinceMs });
    }
    expect(gapOf(strategyOf(facts, market.id), 'exitLiquidityTier')).toBeUndefined();
  });

  test('gapsOfStrategy: limits and the effective APY are parts of other fields', () => {
    const fields = (field: string) => gapsOfStrategy({ field, reason: 'NONE', message: 'm' }).map((one) => one.field);
    expect(
      [
        'effectiveCollateralApyPct',
        'ltvLimits.maxPct',
        'means.collateralApy',
        'means.leverageApy.avg30dPct',
        'other',
      ].map(fields),
    ).toEqual([
      ['totalCollateralApyPct', 'leverageLadder', 'defaultLeverage'],
      ['ltvLimits.maxPct', 'maxLeverage'],
      ['collateralApyMeans'],
      ['historicalLeverageApyPct.avg30dPct'],
      ['other'],
    ]);
  });
});

describe('unconfirmed values', () => {
  const composed = (given: ChainFacts) => composeChain(ethereum, given, PARAMS).lookup.markets.get(market.id);
  const priced = (value: string) =>
    withItem(facts, 'price', market.loan.address, { value: { usd: of(1) }, failure: suspect(value) });

  test('behavior: a lower price scales the liquidity, an equal or higher one does not', () => {
    const liquidityUsd = composed(priced('1'))?.liquidityUsd;
    expect(composed(priced('0.95'))?.worst.liquidityUsd?.toFixed()).toBe(liquidityUsd?.times('0.95').toFixed());
    expect([composed(priced('1'))?.worst.liquidityUsd, composed(priced('1.05'))?.worst.liquidityUsd]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('behavior: a lower rate counts for the listing, an equal or higher one does not', () => {
    const rated = (value: string) =>
      composed(
        withItem(facts, 'collateralApy', market.collateral.address, {
          value: { apyPct: of(6) },
          failure: suspect(value),
        }),
      )?.worst.collateralApyPct?.toFixed();
    expect([rated('5.99'), rated('6'), rated('6.01')]).toEqual(['5.99', undefined, undefined]);
  });

  test('behavior: each is a warning that names the value shown instead', () => {
    const warnings = (given: ChainFacts) =>
      composed(given)?.warnings.map(({ code, field, value, message }) => [code, field, value, message]);
    const instead = {
      known: 'the last good value is shown.',
      none: 'no value is shown, because there is no good one.',
    };
    expect(warnings(priced('0.95'))).toEqual([
      [
        'suspect_price',
        'loan.priceUsd',
        '0.95',
        `Its source now reports 0.95 USD, which is not confirmed yet: ${instead.known}`,
      ],
    ]);
    const paid = withItem(facts, 'incentives', market.id, { failure: suspect('44.444') });
    expect(warnings(paid)).toEqual([
      [
        'suspect_incentive',
        'borrowIncentive',
        '44.444',
        `Its source now reports 44.44 %, which is not confirmed yet: ${instead.none}`,
      ],
    ]);
    const known = withItem(facts, 'incentives', market.id, {
      value: { borrow: [], collateral: [] },
      failure: suspect('1'),
    });
    expect(warnings(known)?.[0]?.[3]).toContain(instead.known);
    const exit = withItem(facts, 'exitLiquidity', market.collateral.address, { failure: suspect('9') });
    expect(warnings(exit)?.[0]?.[3]).toContain(instead.none);
    expect(warnings(facts)).toEqual([]);
    const unpriced = withItem(facts, 'price', market.loan.address, { failure: suspect('0.5') });
    expect(warnings(unpriced)?.map(([code, , , message]) => [code, String(message).includes(instead.none)])).toEqual([
      ['suspect_price', true],
      ['off_peg', false],
    ]);
  });
});

describe('a market', () => {
  const state = facts.groups.lendingState.items.get(market.id)?.value;
  if (!state) throw new Error('no state');

  test('behavior: has no liquidity where more is lent than supplied', () => {
    const lending = (totalSupplyAssets: bigint) =>
      composeChain(
        ethereum,
        withItem(facts, 'lendingState', market.id, {
          value: { ...state, totalSupplyAssets, lastUpdate: state.blockTimestamp },
        }),
        PARAMS,
      ).lookup.markets.get(market.id)?.liquidityAssets;
    const borrowed = state.totalBorrowAssets;
    expect([borrowed - 5n, borrowed, borrowed + 1n].map(lending)).toEqual([0n, 0n, 1n]);
  });

  test('behavior: is composed anew when a campaign starts or ends, and when its token nears its maturity', () => {
    const at = (borrow: readonly [number, number][], nowMs = NOW_MS) => {
      const campaigns = borrow.map(([startsAtMs, endsAtMs]) => ({
        id: 'c',
        symbol: 'X',
        aprPct: of(1),
        startsAtMs,
        endsAtMs,
      }));
      const paid = withItem(facts, 'incentives', market.id, { value: { borrow: [], collateral: campaigns } });
      return composeChain({ ...ethereum, markets: [market] }, paid, { ...PARAMS, nowMs }).recomposeAtMs;
    };
    expect(at([])).toBeUndefined();
    expect(at([[NOW_MS, NOW_MS + 5]])).toBe(NOW_MS + 5);
    expect(at([[NOW_MS + 3, NOW_MS + 5]])).toBe(NOW_MS + 3);
    expect(at([[NOW_MS - 9, NOW_MS]])).toBeUndefined();
    const pt = marketOf(ethereum, 'PT-stcUSD', 'USDC');
    const maturityMs = (pt.collateral.maturity as number) * 1_000;
    const boundary = (nowMs: number) =>
      composeChain({ ...ethereum, markets: [pt] }, facts, { ...PARAMS, nowMs }).recomposeAtMs;
    expect([boundary(NOW_MS), boundary(maturityMs - 7 * DAY), boundary(maturityMs)]).toEqual([
      maturityMs - 7 * DAY,
      maturityMs,
      undefined,
    ]);
    const sourceAt = (nowMs: number) => strategyOf(facts, pt.id, ethereum, { ...PARAMS, nowMs }).collateralApySource;
    expect([sourceAt(maturityMs - 1) === 'none', sourceAt(maturityMs)]).toEqual([false, 'none']);
  });
});

describe('a vault', () => {
  const [vault] = robinhood.equityVaults as [EquityVault];
  const complete = completeFacts(robinhood);

  test.each([
    ['0', ['0.0', '55.0'], '1.0'],
    ['0.5', ['0.0', '0.5', '55.0'], '1.0'],
    ['50', ['0.0', '50.0', '55.0'], '1.5'],
    ['55', ['0.0', '55.0'], '1.6'],
    ['60', ['0.0', '55.0'], '1.6'],
  ])('behavior: with a target of %s %% has the rungs %o', (targetLtvPct, rungs, leverage) => {
    const chain = { ...robinhood, equityVaults: [{ ...vault, targetLtvPct }] };
    const strategy = strategyOf(complete, vault.id, chain);
    expect(strategy.leverageLadder.map(({ ltvPct }) => ltvPct)).toEqual(rungs);
    expect(strategy.defaultLeverage.leverage).toBe(leverage);
  });

  test('behavior: has the gaps of both legs under the names of its own fields', () => {
    const gapsWith = (given: ChainFacts) => strategyOf(given, vault.id, robinhood).gaps.map(({ field }) => field);
    const before = gapsWith(complete);
    const silent = withItem(complete, 'deployment', DEPLOYMENT_KEY, { failure: timeout });
    expect(gapsWith(silent).filter((field) => !before.includes(field) && !field.startsWith('visibility'))).toEqual([
      ...['fees.yieldFeePct', 'fees.treasury', 'fees.freshness'],
      ...['yieldLegApyPct', 'totalCollateralApyPct'],
    ]);
    const unpaid = withItem(complete, 'incentives', vault.yieldMarket.id, { failure: timeout });
    expect(gapsWith(unpaid).filter((field) => !before.includes(field))).toEqual([
      ...['freshness.incentives', 'leverageLadder', 'defaultLeverage', 'yieldLegApyPct', 'totalCollateralApyPct'],
    ]);
    const young = withItem(complete, 'borrowHistory', vault.yieldMarket.id, { failure: timeout });
    expect(gapsWith(young).filter((field) => !before.includes(field))).toEqual([
      ...['historicalLeverageApyPct', 'yieldLegApyMeans'],
    ]);
  });

  test('behavior: its net APY is the LTV times the difference of the APY of the leg and the borrow APY of the stock', () => {
    const composed = composeChain(robinhood, complete, PARAMS).lookup.markets;
    const [stock, leg] = [composed.get(vault.stockMarket.id), composed.get(vault.yieldMarket.id)];
    if (!stock || !leg) throw new Error('both markets expected');
    const params = {
      nowMs: NOW_MS,
      listing: PARAMS.listing,
      links: PARAMS,
      rules: { of: none, matching: none, equity: none() },
    };
    const { defaultLeverage, equityVault, inputFreshness } = composeEquityStrategy(
      vault,
      { ...stock, netBorrowApyPct: of(4) },
      { ...leg, effectiveCollateralApyPct: of(6), netBorrowApyPct: of(5), safeLtvPct: of(75) },
      params as never,
    );
    // 6 × 4 − 5 × 3 = 9; 0.5 × (9 − 4) = 2.5.
    expect([equityVault?.yieldLegApyPct, defaultLeverage.leverageApyPct]).toEqual(['9.00', '2.50']);
    expect(inputFreshness.incentives).toBeDefined();
  });

  test('behavior: waits for each of its markets that is not composed', () => {
    const without = (...ids: readonly string[]) => {
      const given = ids.reduce((sum, id) => withItem(sum, 'lendingState', id, {}), complete);
      return composeChain(robinhood, given, PARAMS).excluded.find(({ marketId }) => marketId === vault.id);
    };
    const waiting = (...groups: readonly string[]) => ({
      marketId: vault.id,
      symbol: vault.stock.displaySymbol,
      waitingFor: groups.map((group) => ({ group, reason: 'not_composed' })),
    });
    const [stock, leg] = [vault.stockMarket.id, vault.yieldMarket.id];
    expect(without(stock)).toEqual(waiting('stockMarket'));
    expect(without(leg)).toEqual(waiting('yieldMarket'));
    expect(without(stock, leg)).toEqual(waiting('stockMarket', 'yieldMarket'));
    expect(without()).toBeUndefined();
  });
});

function none() {
  return { checks: [], gaps: [] };
}

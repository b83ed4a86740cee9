import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Market } from '../../src/catalog/types.ts';
import { composeChain } from '../../src/domain/compose.ts';
import type { ChainFacts } from '../../src/domain/facts.ts';
import { indexStrategy, STRATEGY_ORDERS } from '../../src/domain/strategy/keys.ts';
import { queryStrategies, type StrategyFilter } from '../../src/domain/strategy/query.ts';
import { maturityDaysLeft } from '../../src/domain/strategy/render.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import { chainOf, completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

const ethereum = chainOf(1);
const robinhood = chainOf(4663);
const unpriced = withItem(completeFacts(ethereum), 'price', marketOf(ethereum, 'sUSDS', 'AUSD').loan.address, {});
const strategies: readonly Strategy[] = [
  ...composeChain(ethereum, unpriced, PARAMS).strategies,
  ...composeChain(robinhood, completeFacts(robinhood), PARAMS).strategies,
];
const index = strategies.map((strategy) => indexStrategy(strategy, {} as never));
const BY_APY = { order: 'apy', direction: 'desc', window: { size: 1_000, fromEnd: false } } as const;
const find = (filter: StrategyFilter) =>
  queryStrategies(index, { ...BY_APY, filter }).items.map((item) => item.strategy);

describe('queryStrategies', () => {
  test('default: all strategies, best leverage APY first', () => {
    const page = queryStrategies(index, BY_APY);
    expect(page).toMatchObject({ totalCount: strategies.length, hasNextPage: false, hasPreviousPage: false });
    const apys = page.items.map(({ strategy }) => Number(strategy.defaultLeverage.leverageApyPct));
    expect(apys).toEqual([...apys].sort((a, b) => b - a));
  });

  const filters: readonly (readonly [string, StrategyFilter, (strategy: Strategy) => boolean])[] = [
    ['category', { categories: ['BTC', 'stable-PT'] }, (s) => ['BTC', 'stable-PT'].includes(s.collateral.category)],
    ['correlated', { correlated: false }, (s) => !s.correlated],
    ['kind', { kinds: ['equity'] }, (s) => s.kind === 'equity'],
    ['loan symbol', { loan: 'usdc' }, (s) => s.loan.symbol === 'USDC'],
    ['loan address', { loan: ethereum.stable.address.toUpperCase() }, (s) => s.loan.symbol === 'USDC'],
    [
      'a part of the name',
      { search: ' USDe/pyUSD ' },
      (s) => `${s.collateral.symbol}/${s.loan.symbol}`.includes('USDe/PYUSD'),
    ],
    ['a part of the name of the collateral', { search: 'staked' }, (s) => /staked/i.test(s.collateral.name)],
    ['collateral', { collateral: 'PT-apxusd' }, (s) => s.collateral.symbol === 'PT-apxUSD'],
    ['APY source', { apySources: ['onchain', 'none'] }, (s) => ['onchain', 'none'].includes(s.collateralApySource)],
    ['minimum APY', { minApyPct: 20.5 }, (s) => Number(s.defaultLeverage.leverageApyPct) >= 20.5],
    ['minimum liquidity', { minLiquidityUsd: 2_000_000 }, (s) => Number(s.liquidityUsd ?? 0) >= 2_000_000],
    ['minimum leverage of vaults', { kinds: ['equity'], minMaxLeverage: 1.5 }, (s) => s.kind === 'equity'],
    ['minimum leverage', { minMaxLeverage: 11.4 }, (s) => Number(s.maxLeverage) >= 11.4],
    ['maturity', { maturesAfter: 1_784_764_800 }, (s) => (s.collateral.maturity ?? 0) > 1_784_764_800],
    ['maturity before', { maturesBefore: 1_784_764_801 }, (s) => s.collateral.maturity === 1_784_764_800],
    ['listed only', { listedOnly: true }, (s) => s.visibility.visible],
    [
      'all at once',
      { loan: 'USDC', correlated: true, minMaxLeverage: 8 },
      (s) => s.loan.symbol === 'USDC' && s.correlated && Number(s.maxLeverage) >= 8,
    ],
  ];

  test.each(filters)('behavior: filters by %s', (_name, filter, holds) => {
    const found = find(filter);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(strategies.length);
    expect(new Set(found)).toEqual(new Set(strategies.filter(holds)));
  });

  test('behavior: an unknown value meets no limit and sorts last in both directions', () => {
    expect(find({ minLiquidityUsd: 0 }).every((strategy) => strategy.liquidityUsd !== undefined)).toBe(true);
    for (const direction of ['asc', 'desc'] as const) {
      const { items } = queryStrategies(index, {
        order: 'liquidity',
        direction,
        window: { size: 1_000, fromEnd: false },
      });
      expect(items[items.length - 1]?.strategy.loan.symbol).toBe('AUSD');
      const maturities = queryStrategies(index, {
        order: 'maturity',
        direction,
        window: { size: 1_000, fromEnd: false },
      }).items;
      expect(maturities.slice(0, 3).every(({ strategy }) => strategy.collateral.maturity !== null)).toBe(true);
      expect(maturities.slice(3).every(({ strategy }) => strategy.collateral.maturity === null)).toBe(true);
    }
  });

  test('behavior: orders by collateral APY with its incentive and by net borrow APY', () => {
    const [low, high] = [marketOf(ethereum, 'siUSD', 'USDC'), marketOf(ethereum, 'reUSD', 'USDC')];
    const paid = (aprPct: number) => ({
      id: 'c',
      symbol: 'X',
      aprPct: new Decimal(aprPct),
      startsAtMs: NOW_MS - DAY,
      endsAtMs: NOW_MS + DAY,
    });
    let facts = completeFacts(ethereum);
    for (const [market, apyPct] of [
      [low, 6],
      [high, 6.5],
    ] as const) {
      facts = withItem(facts, 'collateralApy', market.collateral.address, { value: { apyPct: new Decimal(apyPct) } });
    }
    const firstBy = (order: 'collateralApy' | 'borrowApy', direction: 'asc' | 'desc', of: ChainFacts) => {
      const { strategies: composed } = composeChain(ethereum, of, PARAMS);
      const both = composed.filter(({ marketId }) => marketId === low.id || marketId === high.id);
      return queryStrategies(
        both.map((strategy) => indexStrategy(strategy, {} as never)),
        { order, direction, window: { size: 1, fromEnd: false } },
      ).items[0]?.strategy.marketId;
    };
    expect(firstBy('collateralApy', 'desc', facts)).toBe(high.id);
    const collateral = withItem(facts, 'incentives', low.id, { value: { borrow: [], collateral: [paid(1)] } });
    expect(firstBy('collateralApy', 'desc', collateral)).toBe(low.id);
    const borrow = (market: Market) =>
      withItem(facts, 'incentives', market.id, { value: { borrow: [paid(1)], collateral: [] } });
    expect([firstBy('borrowApy', 'asc', borrow(low)), firstBy('borrowApy', 'asc', borrow(high))]).toEqual([
      low.id,
      high.id,
    ]);
  });

  test('behavior: pages of any size have every strategy once, in order', () => {
    const orders = fc.constantFrom(...STRATEGY_ORDERS);
    const directions = fc.constantFrom('asc' as const, 'desc' as const);
    fc.assert(
      fc.property(orders, directions, fc.integer({ min: 1, max: 50 }), (order, direction, first) => {
        const whole = queryStrategies(index, { order, direction, window: { size: 1_000, fromEnd: false } }).items.map(
          (i) => i.strategy.id,
        );
        const read: string[] = [];
        let after: string | undefined;
        for (;;) {
          const page = queryStrategies(index, {
            order,
            direction,
            window: { size: first, fromEnd: false },
            after,
          });
          read.push(...page.items.map((item) => item.strategy.id));
          expect(page.totalCount).toBe(whole.length);
          expect(page.hasPreviousPage).toBe(after !== undefined);
          after = page.items[page.items.length - 1]?.cursor;
          if (!page.hasNextPage) break;
        }
        expect(read).toEqual(whole);
      }),
      { numRuns: 100 },
    );
  });

  test('behavior: a cursor stays valid when earlier strategies disappear', () => {
    const first = queryStrategies(index, { ...BY_APY, window: { size: 5, fromEnd: false } });
    const cursor = first.items[4]?.cursor as string;
    const next = queryStrategies(index, { ...BY_APY, window: { size: 5, fromEnd: false }, after: cursor }).items.map(
      (item) => item.strategy.id,
    );
    const gone = new Set(first.items.map((item) => item.strategy));
    const fewer = strategies
      .filter((strategy) => !gone.has(strategy))
      .map((strategy) => indexStrategy(strategy, {} as never));
    const again = queryStrategies(fewer, { ...BY_APY, window: { size: 5, fromEnd: false }, after: cursor }).items.map(
      (i) => i.strategy.id,
    );
    expect(again).toEqual(next);
  });

  test('error: BadRequest for a cursor of another order and for an invalid one', () => {
    const cursor = queryStrategies(index, { ...BY_APY, window: { size: 1, fromEnd: false } }).items[0]
      ?.cursor as string;
    for (const after of ['', 'abc', '%%%', btoa('[]'), cursor.slice(2)]) {
      expect(() => queryStrategies(index, { ...BY_APY, after })).toThrow(BadRequestError);
    }
    expect(() =>
      queryStrategies(index, {
        order: 'borrowApy',
        direction: 'desc',
        window: { size: 1, fromEnd: false },
        after: cursor,
      }),
    ).toThrow(BadRequestError);
  });
});

describe('maturityDaysLeft', () => {
  test.each([
    [0, 0],
    [1, 0],
    [DAY - 1, 0],
    [DAY, 1],
    [10 * DAY + 5, 10],
    [-DAY, 0],
  ])('behavior: %i ms before maturity are %i days', (leftMs, days) => {
    expect(maturityDaysLeft(2_000_000, 2_000_000_000 - leftMs)).toBe(days);
  });

  test('behavior: a token without a maturity has no days left', () => {
    expect(maturityDaysLeft(null, NOW_MS)).toBeNull();
  });
});

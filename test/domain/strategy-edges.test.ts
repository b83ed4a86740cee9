import { describe, expect, test } from 'vitest';
import { DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import { DEFAULT_DEPOSIT_FEE, DEFAULT_YIELD_FEE } from '../../src/domain/leverage/fees.ts';
import { ladderEntries, ladderRungs } from '../../src/domain/leverage/ladder.ts';
import { leverageFromLtvPct, ltvPctFromLeverage } from '../../src/domain/leverage/leveraged-apy.ts';
import { ltvLimits, stockLtvCapPct } from '../../src/domain/leverage/limits.ts';
import { decodeCursor, encodeCursor } from '../../src/domain/strategy/cursor.ts';
import { comparePositions, indexStrategy, type PageCursor } from '../../src/domain/strategy/keys.ts';
import { queryStrategies, type StrategyFilter } from '../../src/domain/strategy/query.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { visibilityOf } from '../../src/domain/strategy/visibility.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import { ethereum, strategyOf } from './strategy-world.ts';
import { CONTRACT, completeFacts, DAY, marketOf, NOW_MS, withItem } from './world.ts';

/** Strategies at each limit: exactly on it, and a unit beside it. */

const of = (value: number | string) => new Decimal(value);
const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
const facts = completeFacts(ethereum);

describe('cursors', () => {
  const id = market.id as string;
  const written = (...row: unknown[]) => btoa(encodeURIComponent(JSON.stringify(row)));
  const read = (cursor: string, order: 'liquidity' | 'name' = 'liquidity') =>
    decodeCursor(cursor, order, 'asc', 'after');

  test('default: reads the cursors that it writes, with known keys and unknown ones', () => {
    for (const key of [7.5, undefined]) {
      const position = { key, chainId: 1, id };
      expect(read(encodeCursor('liquidity', 'asc', position))).toEqual(position);
    }
    expect(read(encodeCursor('name', 'asc', { key: 'ä', chainId: 1, id }), 'name').key).toBe('ä');
  });

  test.each([
    ['another order', ['name', 'asc', 5, 1, id]],
    ['another direction', ['liquidity', 'desc', 5, 1, id]],
    ['a part too few', ['liquidity', 'asc', 5, 1]],
    ['a part too many', ['liquidity', 'asc', 5, 1, id, 1]],
    ['a text as a number', ['liquidity', 'asc', '5', 1, id]],
    ['a chain that is a text', ['liquidity', 'asc', 5, '1', id]],
    ['an id that is a number', ['liquidity', 'asc', 5, 1, 7]],
    ['an id of no strategy', ['liquidity', 'asc', 5, 1, 'x']],
  ])('error: BadRequest for %s', (_, row) => {
    expect(() => read(written(...row))).toThrow(BadRequestError);
  });

  test('error: BadRequest for a number as a symbol, an object in place of the list, and an invalid encoding', () => {
    expect(() => read(written('name', 'asc', 5, 1, id), 'name')).toThrow(BadRequestError);
    expect(() => read(btoa(encodeURIComponent('{"length":5}')))).toThrow(BadRequestError);
    expect(() => read('%')).toThrow(expect.objectContaining({ details: { field: 'after', value: '%' } }));
  });
});

describe('orders', () => {
  const at = (key: PageCursor['key'], id = 'a', chainId = 1): PageCursor => ({ key, id, chainId });

  test.each([
    [at(1), at(2), -1],
    [at(2), at(1), 1],
    [at(1), at(undefined), -1],
    [at(undefined), at(1), 1],
    [at('a'), at('b'), -1],
    // Ties: by id, then by chain, in both directions alike.
    [at(1, 'a'), at(1, 'b'), -1],
    [at(undefined, 'b'), at(undefined, 'a'), 1],
    [at(1, 'a', 1), at(1, 'a', 2), -1],
    [at(1), at(1), 0],
  ])('default: %o before %o: %i', (a, b, expected) => {
    expect(Math.sign(comparePositions(a, b, 'asc'))).toBe(expected);
    const isTie = a.key === b.key || a.key === undefined || b.key === undefined;
    expect(Math.sign(comparePositions(a, b, 'desc')) + 0).toBe(isTie ? expected : -expected);
  });

  test('behavior: a strategy at a limit satisfies it, except at a maturity', () => {
    const base = strategyOf(facts, market.id);
    const strategy = {
      ...base,
      liquidityUsd: '500',
      maxLeverage: '4.0',
      collateral: { ...base.collateral, maturity: 1_000 },
      defaultLeverage: { ...base.defaultLeverage, leverageApyPct: '7' },
    } as Strategy;
    const passes = (filter: StrategyFilter) =>
      queryStrategies([indexStrategy(strategy, {} as never)], {
        filter,
        order: 'name',
        direction: 'asc',
        window: { size: 5, fromEnd: false },
      }).totalCount === 1;
    expect([{ minLiquidityUsd: 500 }, { minMaxLeverage: 4 }, { minApyPct: 7 }].map(passes)).toEqual([true, true, true]);
    expect([{ minLiquidityUsd: 500.1 }, { minMaxLeverage: 4.1 }, { minApyPct: 7.1 }].map(passes)).toEqual([
      ...[false, false, false],
    ]);
    expect([{ maturesBefore: 1_000 }, { maturesBefore: 1_001 }].map(passes)).toEqual([false, true]);
    expect([{ maturesAfter: 1_000 }, { maturesAfter: 999 }].map(passes)).toEqual([false, true]);
    expect([{ collateral: base.collateral.address }, { loan: base.loan.symbol.toUpperCase() }].map(passes)).toEqual([
      true,
      true,
    ]);
    expect(passes({ correlated: true })).toBe(base.correlated);
  });
});

describe('listing rules', () => {
  const checkOf = (name: string, over: object) =>
    visibilityOf(
      {
        market: { worst: {}, liquidityAssets: 0n },
        yieldsPct: [],
        needsYield: true,
        lacksRoute: false,
        maturing: {},
        nowMs: NOW_MS,
        deployment: [],
        ...over,
      } as never,
      { minDaysToMaturity: 7, minLiquidityUsd: of(1_000) },
    ).checks.find((check) => check.name === name);

  test.each([
    ['a unit of unpriced liquidity', { worst: {}, liquidityAssets: 1n }, true, null],
    ['no liquidity, unpriced', { worst: {}, liquidityAssets: 0n }, false, null],
    [
      'the worse of two values',
      { worst: { liquidityUsd: of(999) }, liquidityUsd: of(2_000), liquidityAssets: 1n },
      false,
      '999.00',
    ],
    ['a value above the minimum', { worst: {}, liquidityUsd: of('1000.005'), liquidityAssets: 0n }, true, '1000.01'],
  ])('behavior: %s', (_, given, passed, value) => {
    expect(checkOf('liquidity', { market: given })).toEqual({ name: 'liquidity', passed, value, threshold: '1000' });
  });

  test.each([
    [[undefined, of(0)], true, null],
    [[undefined, of('0.01')], true, '0.01'],
    [[undefined, of(-1)], true, null],
    [[of(0), of(0)], false, '0.00'],
    [[of(-2), of(-1)], false, '-1.00'],
    [[undefined], true, null],
    [[], false, null],
  ])('behavior: yields of %o', (yieldsPct, passed, value) => {
    expect(checkOf('has_yield', { yieldsPct })).toEqual({ name: 'has_yield', passed, value, threshold: '0' });
    expect(checkOf('has_yield', { yieldsPct, needsYield: false })).toMatchObject({ passed: true, threshold: null });
  });

  test.each([
    [true, false, 'none'],
    [false, true, 'available'],
    [null, true, null],
  ])('behavior: a lacking route: %s', (lacksRoute, passed, value) => {
    expect(checkOf('swap_route', { lacksRoute })).toMatchObject({ passed, value });
  });

  test.each([
    // Tenths of days are cut, and a matured token has none left.
    [7 * DAY + 1_000, true, '7.0'],
    [12.39 * DAY, true, '12.3'],
    [0.5 * DAY, false, '0.5'],
    [-DAY, false, '0.0'],
  ])('behavior: a token that matures in %i ms', (leftMs, passed, value) => {
    const maturing = { maturity: (NOW_MS + leftMs) / 1_000 };
    expect(checkOf('maturity', { maturing })).toEqual({ name: 'maturity', passed, value, threshold: '7' });
    expect(checkOf('maturity', { maturing: {} })).toMatchObject({ passed: true, value: null, threshold: null });
  });

  test('behavior: one failed check hides a strategy', () => {
    const deployed = { name: 'paused', passed: false, value: 'paused', threshold: null };
    const strategy = strategyOf(facts, market.id);
    expect(strategy.visibility.visible).toBe(true);
    const paused = withItem(facts, 'deployment', DEPLOYMENT_KEY, { value: { ...CONTRACT, isPaused: true } });
    const hidden = strategyOf(paused, market.id).visibility;
    expect([hidden.visible, hidden.checks.find(({ name }) => name === 'paused')]).toMatchObject([false, deployed]);
  });
});

describe('limits and rungs', () => {
  test('behavior: the documented numbers', () => {
    expect([DEFAULT_YIELD_FEE, DEFAULT_DEPOSIT_FEE]).toEqual([50_000_000_000_000_000n, 10_000_000_000_000_000n]);
    const limits = (lltv: bigint, buffer?: Decimal) => {
      const { liquidationLtvPct, maxLtvPct, safeLtvPct } = ltvLimits(lltv, buffer);
      return [liquidationLtvPct, maxLtvPct, safeLtvPct].map((pct) => pct.toFixed());
    };
    expect(limits(915n * 10n ** 15n)).toEqual(['91.5', '91.25', '90.5']);
    expect(limits(915n * 10n ** 15n, of('2.5'))).toEqual(['91.5', '89', '88.25']);
    expect(limits(10n ** 16n, of('0.5'))).toEqual(['1', '0.5', '0']);
    expect(limits(10n ** 15n)).toEqual(['0.1', '0', '0']);
    expect(stockLtvCapPct(of('62.5')).toFixed()).toBe('55');
  });

  test('behavior: whole rungs up to the maximum, and the maximum itself', () => {
    const shown = (maxLtvPct: string) =>
      ladderRungs(of(maxLtvPct)).map(({ leverage, ltvPct }) => `${leverage} ${ltvPct}`);
    // 100 / (100 − 75) = 4 is a whole rung itself; 100 / (100 − 70) = 3.33 is not.
    expect(shown('75')).toEqual(['1.0 0.0', '2.0 50.0', '3.0 66.7', '4.0 75.0']);
    expect(shown('70')).toEqual(['1.0 0.0', '2.0 50.0', '3.0 66.7', '3.3 70.0']);
    // 3.96 is shown as 4.0, whose LTV is above the maximum.
    expect(shown('74.75')).toEqual(['1.0 0.0', '2.0 50.0', '3.0 66.7', '4.0 74.8']);
    expect(shown('0')).toEqual(['1.0 0.0']);
  });

  test('behavior: a rung earns the carry on each of its parts', () => {
    // 6 × L − 4 × (L − 1).
    const apys = ladderEntries(ladderRungs(of('70')), of(6), of(4)).map(({ leverageApyPct }) => leverageApyPct);
    expect(apys).toEqual(['6.00', '8.00', '10.00', '10.60']);
  });

  test('error: RangeError where leverage has no meaning', () => {
    for (const ltv of ['-0.01', '100']) expect(() => leverageFromLtvPct(of(ltv))).toThrow(RangeError);
    expect([leverageFromLtvPct(of(0)).toFixed(), leverageFromLtvPct(of(99)).toFixed()]).toEqual(['1', '100']);
    expect(() => ltvPctFromLeverage(of('0.99'))).toThrow(RangeError);
    expect([ltvPctFromLeverage(of(1)).toFixed(), ltvPctFromLeverage(of(4)).toFixed()]).toEqual(['0', '75']);
  });
});

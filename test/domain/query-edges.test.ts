import { describe, expect, test } from 'vitest';
import { composeChain } from '../../src/domain/compose.ts';
import { encodeCursor } from '../../src/domain/strategy/cursor.ts';
import { fingerprintOf } from '../../src/domain/strategy/fingerprint.ts';
import {
  comparePositions,
  type IndexedStrategy,
  indexStrategy,
  type PageCursor,
  type ShownMarket,
  type SortKey,
} from '../../src/domain/strategy/keys.ts';
import { queryStrategies, type StrategyFilter } from '../../src/domain/strategy/query.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import { chainOf, completeFacts, PARAMS } from './world.ts';

const robinhood = chainOf(4663);
const { strategies, lookup } = composeChain(robinhood, completeFacts(robinhood), PARAMS);
const loop = strategies.find(({ kind }) => kind === 'loop') as Strategy;
const vault = strategies.find(({ kind }) => kind === 'equity') as Strategy;

const marketOf = (strategy: Strategy) => lookup.markets.get(strategy.marketId) as ShownMarket;
const indexed = (strategy: Strategy) => indexStrategy(strategy, marketOf(strategy));

describe('indexStrategy', () => {
  test('behavior: a loop is ordered by its shown values; an incentive adds to its yield', () => {
    const shown: Strategy = {
      ...loop,
      collateralApyPct: '6.25',
      totalCollateralApyPct: '7.75',
      netBorrowApyPct: '-0.75',
      liquidityUsd: '1234.56',
      maxLeverage: '11.4',
      defaultLeverage: { leverage: '9.0', ltvPct: '88.9', leverageApyPct: '14.2' },
      collateral: { ...loop.collateral, symbol: 'PT-Usd', maturity: 1_800_000_000 },
      loan: { ...loop.loan, symbol: 'USDx' },
    };
    const { keys, collateral, loan } = indexed(shown);
    expect(keys).toEqual({
      apy: 14.2,
      borrowApy: -0.75,
      collateralApy: 7.75,
      liquidity: 1234.56,
      maxLeverage: 11.4,
      maturity: 1_800_000_000,
      name: 'pt-usd/usdx',
    });
    expect([...collateral]).toEqual([shown.collateral.address.toLowerCase(), 'pt-usd']);
    expect([...loan]).toEqual([shown.loan.address.toLowerCase(), 'usdx']);
  });

  test('behavior: a vault has a leverage like a loop, and no yield to compare', () => {
    const { keys } = indexed(vault);
    expect([keys.collateralApy, keys.maxLeverage]).toEqual([undefined, Number(vault.maxLeverage)]);
    expect(typeof keys.apy).toBe('number');
    const unknown = indexed({
      ...vault,
      liquidityUsd: undefined,
      collateral: { ...vault.collateral, maturity: null },
    });
    expect([unknown.keys.liquidity, unknown.keys.maturity]).toEqual([undefined, undefined]);
  });
});

describe('comparePositions', () => {
  const at = (key: SortKey, id = '0x1', chainId = 1): PageCursor => ({ key, id, chainId });

  test.each<[string, PageCursor, PageCursor, number, number]>([
    // The sign in ascending and in descending order.
    ['a smaller number', at(1), at(2), -1, 1],
    ['a larger number', at(2), at(1), 1, -1],
    ['a text before another', at('a'), at('b'), -1, 1],
    ['no key after a number', at(undefined), at(1), 1, 1],
    ['a number before no key', at(1), at(undefined), -1, -1],
    ['zero is a key', at(0), at(undefined), -1, -1],
    ['no keys: by id', at(undefined, '0x1'), at(undefined, '0x2'), -1, -1],
    ['equal keys: by id', at(7, '0x2'), at(7, '0x1'), 1, 1],
    ['equal ids: by chain', at(7, '0x1', 1), at(7, '0x1', 4663), -1, -1],
    ['the same position', at(7), at(7), 0, 0],
    ['the same position without a key', at(undefined), at(undefined), 0, 0],
  ])('behavior: %s', (_name, a, b, ascending, descending) => {
    expect([Math.sign(comparePositions(a, b, 'asc')), Math.sign(comparePositions(a, b, 'desc'))]).toEqual([
      ascending,
      descending,
    ]);
  });
});

describe('limits of queryStrategies', () => {
  const entry = (id: string, keys: Partial<IndexedStrategy['keys']>): IndexedStrategy => {
    const known = indexed({ ...loop, id: `0x${id.repeat(64)}` as Strategy['id'] });
    return { ...known, keys: { ...known.keys, ...keys } };
  };
  const entries = [
    entry('1', { apy: 9, liquidity: 100, maxLeverage: 2, maturity: 50 }),
    entry('2', { apy: 10, liquidity: 101, maxLeverage: 3, maturity: 51 }),
    entry('3', { apy: 11, liquidity: undefined, maxLeverage: undefined, maturity: undefined }),
  ];
  const found = (filter: StrategyFilter, change: object = {}) =>
    queryStrategies(entries, {
      filter,
      order: 'apy',
      direction: 'asc',
      window: { size: 10, fromEnd: false },
      ...change,
    }).items.map(({ strategy }) => strategy.id[2]);

  test.each<[StrategyFilter, readonly string[]]>([
    [{ minApyPct: 10 }, ['2', '3']],
    [{ minApyPct: 10.01 }, ['3']],
    [{ minLiquidityUsd: 100 }, ['1', '2']],
    [{ minLiquidityUsd: 100.5 }, ['2']],
    [{ minMaxLeverage: 3 }, ['2']],
    [{ minMaxLeverage: 3.1 }, []],
    [{ maturesBefore: 51 }, ['1']],
    [{ maturesBefore: 52 }, ['1', '2']],
    [{ maturesAfter: 50 }, ['2']],
    [{ maturesAfter: 49 }, ['1', '2']],
    [{ maturesAfter: 50, maturesBefore: 51 }, []],
    [{ kinds: ['loop'] }, ['1', '2', '3']],
    [{ correlated: !loop.correlated }, []],
    [{ listedOnly: false }, ['1', '2', '3']],
  ])('behavior: %o', (filter, ids) => {
    expect(found(filter)).toEqual(ids);
  });

  test('behavior: a page between two cursors has neither of them', () => {
    const cursorOf = (key: number, id: string) => ({ key, id: `0x${id.repeat(64)}`, chainId: 4663 });
    const first = encodeCursor('apy', 'asc', cursorOf(9, '1'));
    const last = encodeCursor('apy', 'asc', cursorOf(11, '3'));
    expect([
      found({}, { after: first }),
      found({}, { before: last }),
      found({}, { after: first, before: last }),
    ]).toEqual([['2', '3'], ['1', '2'], ['2']]);
    expect(found({}, { window: { size: 2, fromEnd: true } })).toEqual(['2', '3']);
  });

  const ID = `0x${'1'.repeat(64)}`;
  const row = (value: unknown) => btoa(encodeURIComponent(JSON.stringify(value)));
  test.each<[string, unknown]>([
    ['another order', ['name', 'asc', 9, 1, ID]],
    ['another direction', ['apy', 'desc', 9, 1, ID]],
    ['one field more', ['apy', 'asc', 9, 1, ID, 1]],
    ['one field less', ['apy', 'asc', 9, 1]],
    ['a text as a number', ['apy', 'asc', '9', 1, ID]],
    ['a chain as text', ['apy', 'asc', 9, '1', ID]],
    ['a number as an id', ['apy', 'asc', 9, 1, 1]],
    ['another id', ['apy', 'asc', 9, 1, 'x']],
    ['no list', { length: 5 }],
  ])('error: a cursor with %s names its argument', (_name, value) => {
    for (const field of ['after', 'before'] as const) {
      const query = () => found({}, { [field]: row(value) });
      expect(query).toThrow(BadRequestError);
      expect(query).toThrow(/is not a cursor of this list/);
      try {
        query();
      } catch (error) {
        expect((error as BadRequestError).details).toMatchObject({ field });
      }
    }
  });

  test('error: a cursor of texts has no number as its key', () => {
    const byName = (key: unknown) => found({}, { order: 'name', after: row(['name', 'asc', key, 1, ID]) });
    expect(() => byName(9)).toThrow(BadRequestError);
    expect(byName(null)).toEqual([]);
    expect(byName('')).toEqual(['1', '2', '3']);
  });
});

describe('fingerprintOf', () => {
  const of = (change: object) => fingerprintOf(indexed({ ...loop, ...change } as Strategy));

  test('behavior: the shown values of a strategy count, and the times of its measurements do not', () => {
    const plain = of({});
    expect(of({ borrowApyPct: '99.99' })).not.toBe(plain);
    expect(of({ oraclePriceAsOfMs: 1 })).not.toBe(plain);
    const moments = { asOfMs: 1, sinceMs: 2, lastSuccessMs: 3, lastAttemptMs: 4 };
    expect(of(moments)).toBe(plain);
    expect(of({ gaps: loop.gaps.map((gap) => ({ ...gap, sinceMs: 5 })) })).toBe(
      of({ gaps: loop.gaps.map(({ field, reason, message }) => ({ field, reason, message })) }),
    );
  });

  test('behavior: what is shown of its market counts', () => {
    const market = marketOf(loop);
    const shown = (change: object) => fingerprintOf(indexStrategy(loop, { ...market, ...change }));
    const plain = shown({});
    const { price, exit } = {
      price: { value: { usd: new Decimal('1.0000001') }, asOfMs: 1, source: 's' },
      exit: { ...market.facts, exitLiquidity: undefined },
    };
    for (const change of [
      { borrowIncentive: undefined },
      { collateralIncentive: undefined },
      { collateralPrice: price },
      { loanPrice: price },
      { facts: exit },
    ]) {
      expect([Object.keys(change), shown(change) === plain]).toEqual([Object.keys(change), false]);
    }
    expect(shown({ collateralPrice: price })).toBe(shown({ collateralPrice: { ...price, asOfMs: 2 } }));
    expect(shown({ liquidityUsd: new Decimal(7) })).toBe(plain);
  });

  test('behavior: an exact integer counts by its digits', () => {
    expect(of({ seen: 10n ** 18n })).toContain('"seen":"1000000000000000000"');
    expect(of({ seen: 1n })).not.toBe(of({ seen: 2n }));
  });
});

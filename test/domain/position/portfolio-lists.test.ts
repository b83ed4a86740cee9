import { describe, expect, test } from 'vitest';
import {
  type ItemFilter,
  PORTFOLIO_ORDERS,
  type PortfolioOrder,
  queryDrift,
  queryItems,
  queryPortfolios,
} from '../../../src/domain/portfolio/query.ts';
import { oldest, rowsOfWallet } from '../../../src/domain/portfolio/rows.ts';
import type { Portfolio, PortfolioEntry } from '../../../src/domain/portfolio/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { BadRequestError } from '../../../src/shared/errors.ts';
import {
  addressOf,
  amounts,
  loop,
  page,
  plain,
  report,
  reportOf,
  second,
  vault,
  walletOf,
  wallets,
} from './portfolio-lists-world.ts';

const keysOf = (
  filter: ItemFilter,
  order: PortfolioOrder = 'wallet',
  direction: 'asc' | 'desc' = 'asc',
  isWhole = false,
) => queryItems([report], { ...page, filter, order, direction, isWhole }).edges.map(({ node }) => node.key.slice(0, 2));
const V = 'eq';

describe('filters of items', () => {
  test.each<[string, ItemFilter, readonly string[]]>([
    ['none', {}, ['p1', 'p2', 'p3', V, 'p7', 'p8']],
    ['a status', { statuses: ['closed'] }, ['p3']],
    ['a wallet', { wallets: [addressOf(1)] }, ['p1', 'p2']],
    ['a market', { marketIds: [second.id] }, ['p2']],
    ['the stock market of a vault', { marketIds: [vault.stockMarket.id] }, [V]],
    ['a strategy', { strategyIds: [vault.id] }, [V]],
    ['a vault, with its loops', { vaultIds: [vault.id] }, [V, 'p7', 'p8']],
    ['a kind of drift', { driftKinds: ['no_db_row'] }, [V, 'p7']],
    ['a value at the least', { minValueUsd: new Decimal('40') }, ['p2', V, 'p7']],
    ['a value above the least', { minValueUsd: new Decimal('40.01') }, [V, 'p7']],
    ['headroom at the least', { minHeadroomPct: new Decimal('9') }, ['p1', 'p8']],
    ['headroom above the least', { minHeadroomPct: new Decimal('9.01') }, ['p1']],
    ['headroom at the most', { maxHeadroomPct: new Decimal('9') }, [V, 'p7', 'p8']],
    ['headroom below the most', { maxHeadroomPct: new Decimal('8.99') }, [V, 'p7']],
    ['all of several', { minValueUsd: new Decimal('1'), maxHeadroomPct: new Decimal('4') }, [V, 'p7']],
    ['an empty list', { wallets: [] }, []],
  ])('behavior: %s; an unknown value meets no limit', (_name, filter, keys) => {
    expect(keysOf(filter).toSorted()).toEqual([...keys].toSorted());
  });

  test('rowsOfWallet: a vault comes before its loops, with the earliest of their times', () => {
    const rows = rowsOfWallet(wallets[2] as Portfolio);
    expect(
      rows.map(({ key, marketId, vaultId, valueUsd, pnlUsd, headroomPct, openedAtMs }) => [
        key,
        marketId,
        vaultId,
        valueUsd,
        pnlUsd,
        headroomPct,
        openedAtMs,
      ]),
    ).toEqual([
      [`${vault.id}-open`, vault.stockMarket.id, vault.id, '100', '20', '4', 500],
      ['p7', plain.position.marketId, vault.id, '70', '70', '4', 500],
      ['p8', plain.position.marketId, vault.id, '30', '30', '9', null],
    ]);
    expect([oldest([]), oldest([null]), oldest([7, null, 3])]).toEqual([null, null, 3]);
  });

  test('queryItems: the loops of a matching vault match as well', () => {
    expect(keysOf({ vaultIds: [vault.id] }, 'wallet', 'asc', true)).toEqual([V]);
    expect(keysOf({ minHeadroomPct: new Decimal(5), vaultIds: [vault.id] }, 'wallet', 'asc', true)).toEqual(['p8']);
  });
});

describe('orders', () => {
  test.each<[PortfolioOrder, readonly string[], readonly string[]]>([
    // Unknown values come last in both directions; equal keys are ordered by wallet and item.
    ['value', ['p1', 'p8', 'p2', 'p7', V, 'p3'], [V, 'p7', 'p2', 'p8', 'p1', 'p3']],
    ['pnl', ['p1', 'p2', V, 'p8', 'p7', 'p3'], ['p7', 'p8', V, 'p2', 'p1', 'p3']],
    ['headroom', [V, 'p7', 'p8', 'p1', 'p2', 'p3'], ['p1', 'p8', V, 'p7', 'p2', 'p3']],
    ['age', ['p2', V, 'p7', 'p1', 'p3', 'p8'], ['p1', V, 'p7', 'p2', 'p3', 'p8']],
    ['drift', ['p2', V, 'p7', 'p1', 'p3', 'p8'], [V, 'p7', 'p2', 'p1', 'p3', 'p8']],
    ['status', ['p1', 'p2', V, 'p7', 'p8', 'p3'], ['p3', 'p1', 'p2', V, 'p7', 'p8']],
    ['wallet', ['p1', 'p2', 'p3', V, 'p7', 'p8'], [V, 'p7', 'p8', 'p3', 'p1', 'p2']],
    ['chain', ['p1', 'p2', 'p3', V, 'p7', 'p8'], ['p1', 'p2', 'p3', V, 'p7', 'p8']],
  ])('default: items by %s', (order, asc, desc) => {
    expect([keysOf({}, order, 'asc'), keysOf({}, order, 'desc')]).toEqual([asc, desc]);
  });

  test('behavior: the LTV, the return and the name of a loop, and the stock of a vault', () => {
    expect(keysOf({ wallets: [addressOf(1)] }, 'return')).toEqual(['p1', 'p2']);
    expect(keysOf({ wallets: [addressOf(1)] }, 'ltv')).toEqual(['p1', 'p2']);
    expect(keysOf({}, 'name').at(-1)).toBe('p3');
    const named = keysOf({}, 'name', 'desc');
    const stockFirst = 'TSLA' > `${plain.position.collateralSymbol}/${plain.position.loanSymbol}`;
    expect(named.indexOf(V)).toBe(stockFirst ? 0 : named.length - 2);
  });

  test.each<[PortfolioOrder, readonly number[], readonly number[]]>([
    // A vault's loops count once, in the vault.
    ['value', [1, 3, 2], [3, 1, 2]],
    ['pnl', [1, 3, 2], [3, 1, 2]],
    ['headroom', [3, 1, 2], [1, 3, 2]],
    ['age', [1, 3, 2], [3, 1, 2]],
    ['wallet', [1, 2, 3], [3, 2, 1]],
    ['status', [1, 3, 2], [2, 1, 3]],
  ])('default: wallets by %s', (order, asc, desc) => {
    const listed = (direction: 'asc' | 'desc') =>
      queryPortfolios([report], { ...page, filter: {}, order, direction }).edges.map(({ node }) => Number(node.wallet));
    expect([listed('asc'), listed('desc')]).toEqual([asc, desc]);
  });

  test('behavior: a wallet counts by its matching items, and a sum above that of another comes first', () => {
    const query = { ...page, filter: { maxHeadroomPct: new Decimal(4) }, order: 'value', direction: 'desc' } as const;
    expect(queryPortfolios([report], query).edges.map(({ node }) => Number(node.wallet))).toEqual([3]);
    const rivals = reportOf([
      walletOf(1, { positions: [loop(1, 1, { pnl: amounts('60') }), loop(2, 1, { pnl: amounts('60') })] }),
      walletOf(2, { positions: [loop(3, 2, { pnl: amounts('100') })] }),
    ]);
    const order = queryPortfolios([rivals], { ...page, filter: {}, order: 'value', direction: 'desc' });
    expect(order.edges.map(({ node }) => Number(node.wallet))).toEqual([1, 2]);
  });

  test('behavior: equal keys of several chains are ordered by chain', () => {
    const other = (entry: PortfolioEntry) => ({ ...entry, chainId: 1 }) as PortfolioEntry;
    const both = [report, reportOf(wallets.slice(0, 2).map(other), 1)];
    const listed = queryPortfolios(both, { ...page, filter: {}, order: 'wallet', direction: 'asc' });
    expect(listed.edges.map(({ node }) => [node.chainId, Number(node.wallet)])).toEqual([
      [1, 1],
      [4663, 1],
      [1, 2],
      [4663, 2],
      [4663, 3],
    ]);
  });

  test('error: BadRequestError for every cursor that no list has written', () => {
    const query = { ...page, filter: {}, order: 'value', direction: 'asc' } as const;
    const written = (...parts: unknown[]) => btoa(JSON.stringify(parts));
    const place = ['items', 'value', 'asc', 5, 4663, 'x'];
    expect(queryItems([report], { ...query, after: written(...place) }).totalCount).toBe(6);
    for (const [at, value] of [
      [0, 'drift'],
      [1, 'pnl'],
      [2, 'desc'],
      [3, {}],
      [4, '4663'],
      [5, 7],
    ] as const) {
      expect(() => queryItems([report], { ...query, after: written(...place.with(at, value as never)) })).toThrow(
        BadRequestError,
      );
    }
    for (const cursor of [written(...place, 1), written(...place.slice(0, 5)), btoa('{}'), btoa('null'), '']) {
      expect(() => queryItems([report], { ...query, before: cursor })).toThrow(BadRequestError);
    }
    for (const key of [null, 'text']) {
      expect(queryItems([report], { ...query, after: written(...place.with(3, key as never)) }).edges).toBeDefined();
    }
  });

  test('behavior: every order pages from both ends without a gap', () => {
    for (const order of PORTFOLIO_ORDERS) {
      const query = { filter: {}, order, direction: 'asc' } as const;
      const all = queryItems([report], { ...query, ...page }).edges.map(({ cursor }) => cursor);
      for (const [i, cursor] of all.entries()) {
        const part = (change: object, fromEnd: boolean) =>
          queryItems([report], { ...query, window: { size: 2, fromEnd }, ...change }).edges.map((edge) => edge.cursor);
        expect(part({ after: cursor }, false)).toEqual(all.slice(i + 1, i + 3));
        expect(part({ before: cursor }, true)).toEqual(all.slice(Math.max(0, i - 2), i));
      }
    }
  });

  test('queryDrift: the earliest first, by market as well', () => {
    const found = (filter: Parameters<typeof queryDrift>[1]) =>
      queryDrift([report], filter, page).edges.map(({ node }) => node.positionId);
    expect(found({})).toEqual(['p2', 'p7']);
    expect([
      found({ marketIds: [second.id] }),
      found({ severities: ['high'] }),
      found({ wallets: [addressOf(2)] }),
    ]).toEqual([['p2'], ['p7'], []]);
  });
});

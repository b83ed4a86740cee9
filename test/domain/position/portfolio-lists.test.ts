import { describe, expect, test } from 'vitest';
import type { Drift } from '../../../src/domain/drift/types.ts';
import { beginAggregates } from '../../../src/domain/portfolio/aggregates.ts';
import { pageOfEntries } from '../../../src/domain/portfolio/entries.ts';
import { isFailed } from '../../../src/domain/portfolio/items.ts';
import { sumPnl } from '../../../src/domain/portfolio/pnl.ts';
import {
  type ItemFilter,
  PORTFOLIO_ORDERS,
  type PortfolioOrder,
  queryDrift,
  queryItems,
  queryPortfolios,
} from '../../../src/domain/portfolio/query.ts';
import { beginSample, countsOf, type PortfolioReport } from '../../../src/domain/portfolio/report.ts';
import { oldest, rowsOfWallet } from '../../../src/domain/portfolio/rows.ts';
import type {
  Pnl,
  Portfolio,
  PortfolioEntry,
  PortfolioLoop,
  PortfolioVault,
  UnresolvedReason,
} from '../../../src/domain/portfolio/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { BadRequestError } from '../../../src/shared/errors.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { NOW_MS } from '../world.ts';
import { portfolioOf, rowOf } from './portfolio-world.ts';
import { held, robinhood } from './position-world.ts';

/** Lists and sums over hand-made wallets, each with what the others lack. */

const [vault] = robinhood.equityVaults;
const [first, second] = robinhood.markets.filter(({ kind }) => kind === 'loop');
if (!vault || !first || !second) throw new Error('a vault and two markets expected');
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Address;

interface LoopChange extends Partial<Omit<PortfolioLoop, 'position' | 'pnl' | 'drift'>> {
  readonly position?: Partial<PortfolioLoop['position']>;
  readonly pnl?: Partial<Pnl>;
  readonly drift?: Partial<Drift>;
}

const whole = portfolioOf({
  chain: robinhood,
  positions: [held(first.id, { collateral: 10n ** 20n, borrowShares: 10n ** 9n, depositedAssets: 10n ** 8n })],
  rows: [rowOf(first.id)],
});
const [plain] = whole.positions;
if (!plain) throw new Error('a loop expected');
const row = plain.row as NonNullable<PortfolioLoop['row']>;

function loop(id: number, wallet: number, { position, pnl, drift, ...rest }: LoopChange = {}): PortfolioLoop {
  const own = { ...plain?.position, wallet: addressOf(wallet), id, positionId: `p${id}`, ...position };
  const found = {
    chainId: 4663,
    wallet: addressOf(wallet),
    positionIndex: id,
    positionId: `p${id}`,
    ...drift,
  } as Drift;
  return {
    ...(plain as PortfolioLoop),
    position: own as PortfolioLoop['position'],
    drift: drift === undefined ? null : found,
    pnl: { ...(plain as PortfolioLoop).pnl, ...pnl },
    ...rest,
  };
}

function vaultOf(
  wallet: number,
  loops: readonly PortfolioLoop[],
  change: Partial<PortfolioVault> = {},
): PortfolioVault {
  return {
    ...{ kind: 'vault', chainId: 4663, wallet: addressOf(wallet), vaultId: vault?.id as PortfolioVault['vaultId'] },
    ...{ status: 'open', stockSymbol: 'TSLA', equity: null, loops, pnl: { gaps: [] } },
    ...change,
  };
}

const walletOf = (wallet: number, items: Partial<Portfolio>): Portfolio => ({
  ...{ ...whole, wallet: addressOf(wallet), positions: [], equityPositions: [], closed: [], unresolved: [] },
  ...items,
});
const amounts = (usd: string, total = usd): Partial<Pnl> => ({ netValueUsd: usd, totalUsd: total });
const openedAt = (openedAtMs: number | null) => ({ ...row, openedAtMs });

const inVault = [
  loop(7, 3, {
    pnl: amounts('70'),
    position: { ltvHeadroomPct: '4' },
    row: openedAt(500),
    drift: { kind: 'no_db_row', severity: 'high', firstSeenMs: 30, marketId: first.id },
  }),
  loop(8, 3, { pnl: amounts('30'), position: { ltvHeadroomPct: '9' }, row: null }),
];
const wallets: readonly PortfolioEntry[] = [
  walletOf(1, {
    positions: [
      loop(1, 1, {
        pnl: { ...amounts('10', '-5'), returnOnEquityPct: '3' },
        position: { ltvPct: '50', ltvHeadroomPct: '20' },
        row: openedAt(900),
      }),
      loop(2, 1, {
        pnl: { ...amounts('40', '1'), returnOnEquityPct: null },
        position: { marketId: second.id, ltvPct: null, ltvHeadroomPct: null },
        row: openedAt(100),
        drift: { kind: 'db_closed_chain_open', severity: 'medium', firstSeenMs: 10, marketId: second.id },
      }),
    ],
    unresolved: [{ reason: 'chain_mismatch', message: '', row }],
  }),
  walletOf(2, {
    closed: [
      loop(3, 2, {
        pnl: { ...amounts('0', '8'), netValueUsd: undefined, totalUsd: undefined },
        position: { status: 'closed', ltvHeadroomPct: null, collateralSymbol: undefined },
        row: openedAt(null),
      }),
    ],
    unresolved: [
      { reason: 'chain_mismatch', message: '', row },
      { reason: 'market_not_configured', message: '', row },
    ],
  }),
  walletOf(3, { equityPositions: [vaultOf(3, inVault, { pnl: { ...amounts('100', '20'), gaps: [] } })] }),
  { chainId: 4663, wallet: addressOf(4), failure: { reason: 'timeout', message: '' } },
];

function reportOf(entries: readonly PortfolioEntry[], chainId = 4663): PortfolioReport {
  const rows = entries.flatMap((entry) => (isFailed(entry) ? [] : [{ portfolio: entry, rows: rowsOfWallet(entry) }]));
  return {
    chainId,
    blockNumber: 1n,
    asOfMs: NOW_MS,
    computedAtMs: NOW_MS + 5,
    entries,
    rows,
    counts: countsOf(entries),
  };
}
const report = reportOf(wallets);
const page = { window: { size: 100, fromEnd: false } } as const;
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
    ['headroom at the most', { maxHeadroomPct: new Decimal('9') }, ['p7', 'p8']],
    ['headroom below the most', { maxHeadroomPct: new Decimal('8.99') }, ['p7']],
    ['all of several', { minValueUsd: new Decimal('1'), maxHeadroomPct: new Decimal('4') }, ['p7']],
    ['an empty list', { wallets: [] }, []],
  ])('behavior: %s; an unknown value meets no limit', (_name, filter, keys) => {
    expect(keysOf(filter).toSorted()).toEqual([...keys].toSorted());
  });

  test('rowsOfWallet: a vault stands before its loops, with the earliest of their times', () => {
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
      [`${vault.id}-open`, vault.stockMarket.id, vault.id, '100', '20', null, 500],
      ['p7', plain.position.marketId, vault.id, '70', '70', '4', 500],
      ['p8', plain.position.marketId, vault.id, '30', '30', '9', null],
    ]);
    expect([oldest([]), oldest([null]), oldest([7, null, 3])]).toEqual([null, null, 3]);
  });

  test('queryItems: of what matches, the loops of a matching vault are part of it', () => {
    expect(keysOf({ vaultIds: [vault.id] }, 'wallet', 'asc', true)).toEqual([V]);
    expect(keysOf({ minHeadroomPct: new Decimal(1), vaultIds: [vault.id] }, 'wallet', 'asc', true)).toEqual([
      'p7',
      'p8',
    ]);
  });
});

describe('orders', () => {
  test.each<[PortfolioOrder, readonly string[], readonly string[]]>([
    // Unknown values come last in both directions; equal keys are ordered by wallet and item.
    ['value', ['p1', 'p8', 'p2', 'p7', V, 'p3'], [V, 'p7', 'p2', 'p8', 'p1', 'p3']],
    ['pnl', ['p1', 'p2', V, 'p8', 'p7', 'p3'], ['p7', 'p8', V, 'p2', 'p1', 'p3']],
    ['headroom', ['p7', 'p8', 'p1', 'p2', 'p3', V], ['p1', 'p8', 'p7', 'p2', 'p3', V]],
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

describe('sums', () => {
  const aggregate = (filter: ItemFilter = {}) => {
    const sums = beginAggregates([report], filter);
    report.rows.forEach(sums.add);
    return sums.finish();
  };
  const unresolvedOf = (filter?: ItemFilter) =>
    Object.fromEntries(aggregate(filter).byUnresolvedReason.map(({ reason, count }) => [reason, count])) as Record<
      UnresolvedReason,
      number
    >;

  test('default: each amount once, and what is unknown counted', () => {
    const { wallets: count, failedWallets, all, byStatus, byMarket } = aggregate();
    expect([count, failedWallets, all.count]).toEqual([3, 1, 4]);
    expect([all.netValueUsd.usd.toFixed(), all.netValueUsd.unknown, all.totalUsd.usd.toFixed()]).toEqual([
      '150',
      1,
      '16',
    ]);
    expect(byStatus.filter(({ count: of }) => of > 0).map(({ status, count: of }) => [status, of])).toEqual([
      ['open', 3],
      ['closed', 1],
    ]);
    // Items of one strategy are one row, the largest first.
    expect(byMarket.map(({ isVault, count: of, netValueUsd }) => [isVault, of, netValueUsd.usd.toFixed()])).toEqual([
      [true, 1, '100'],
      [false, 3, '50'],
    ]);
  });

  test('behavior: rows without a position are counted for each wallet that matches', () => {
    expect(unresolvedOf()).toEqual({ chain_mismatch: 2, market_not_configured: 1, no_chain_position: 0 });
    expect(unresolvedOf({ statuses: ['closed'] })).toEqual({
      chain_mismatch: 1,
      market_not_configured: 1,
      no_chain_position: 0,
    });
    expect(aggregate({ statuses: ['closed'] }).wallets).toBe(1);
  });

  test('behavior: drift is counted by kind and severity', () => {
    expect(aggregate().byDriftKind).toEqual([
      { kind: 'no_db_row', count: 1, bySeverity: { high: 1, medium: 0, low: 0 } },
      { kind: 'db_open_chain_closed', count: 0, bySeverity: { high: 0, medium: 0, low: 0 } },
      { kind: 'db_closed_chain_open', count: 1, bySeverity: { high: 0, medium: 1, low: 0 } },
    ]);
  });

  test('countsOf: each wallet, also one that could not be read', () => {
    expect(report.counts).toEqual({ users: 4, open: 2, equity: 1, closed: 1, unresolved: 3, drift: 2, failed: 1 });
  });

  test('beginSample: the items with a total, at the time of the report', () => {
    const sample = beginSample(report);
    wallets.forEach(sample.add);
    const { netValueUsd, totalUsd, ...rest } = sample.finish();
    expect([netValueUsd.toFixed(), totalUsd.toFixed()]).toEqual(['150', '16']);
    expect(rest).toMatchObject({ chainId: 4663, atMs: NOW_MS + 5, positions: 3 });
    const deposits = [plain.pnl.depositedUsd, plain.pnl.depositedUsd].reduce(
      (sum, usd) => sum.plus(usd ?? 0),
      new Decimal(0),
    );
    expect(rest.depositedUsd.toFixed()).toBe(deposits.toFixed());
  });

  test('sumPnl: says that a part was sold only where the amounts are known', () => {
    const known: Pnl = { depositedUsd: '1', returnedUsd: '2', netValueUsd: '3', gaps: [] };
    const why = (pnl: Pnl) => sumPnl([pnl]).gaps.find(({ field }) => field === 'baseResultUsd')?.message;
    expect(why(known)).toMatch(/sold before/);
    for (const name of ['depositedUsd', 'returnedUsd', 'netValueUsd'] as const) {
      expect(why({ ...known, [name]: undefined })).toMatch(/unknown/);
    }
    expect(why({ ...known, baseResultUsd: '4', incentivesUsd: '0', yieldFeeUsd: '0' })).toBeUndefined();
  });
});

describe('pageOfEntries', () => {
  const entries = [2, 4, 6, 8].map((n) => walletOf(n, {}));
  const cut = (query: { after?: string; before?: string; size?: number; fromEnd?: boolean }) => {
    const { size = 10, fromEnd = false, ...rest } = query;
    const { edges, hasNextPage, hasPreviousPage, totalCount } = pageOfEntries(
      { entries },
      { window: { size, fromEnd }, ...rest },
    );
    expect(totalCount).toBe(4);
    return [edges.map(({ cursor }) => Number(cursor)), hasPreviousPage, hasNextPage];
  };

  test.each([
    [{}, [2, 4, 6, 8], false, false],
    [{ size: 3 }, [2, 4, 6], false, true],
    [{ after: addressOf(4) }, [6, 8], true, false],
    // The wallet of a cursor may be gone.
    [{ after: addressOf(5) }, [6, 8], true, false],
    [{ before: addressOf(6) }, [2, 4], false, true],
    [{ before: addressOf(5), size: 1, fromEnd: true }, [4], true, true],
    [{ after: addressOf(2), before: addressOf(8) }, [4, 6], true, true],
    [{ after: addressOf(8) }, [], true, false],
    [{ before: addressOf(2) }, [], false, true],
  ] as const)('default: %o', (query, wallets_, before, after) => {
    expect(cut(query)).toEqual([wallets_, before, after]);
  });

  test('behavior: capitals of an address make no difference', () => {
    const mixed = [walletOf(0xab, {}), walletOf(0xcd, {})].map((entry) => ({
      ...entry,
      wallet: entry.wallet.toUpperCase().replace('X', 'x') as Address,
    }));
    const rest = pageOfEntries({ entries: mixed }, { ...page, after: addressOf(0xab).toUpperCase().replace('X', 'x') });
    expect(rest.edges.map(({ node }) => Number(node.wallet))).toEqual([0xcd]);
  });

  test('error: BadRequestError for what is no address', () => {
    for (const cursor of ['', 'x', `${addressOf(1)}0`, `0${addressOf(1)}`]) {
      expect(() => cut({ after: cursor })).toThrow(BadRequestError);
      expect(() => cut({ before: cursor })).toThrow(BadRequestError);
    }
  });
});

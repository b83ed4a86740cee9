import { describe, expect, test } from 'vitest';
import type { Drift } from '../../../src/domain/drift/types.ts';
import { beginAggregates } from '../../../src/domain/portfolio/aggregates.ts';
import { leastHeadroomPct } from '../../../src/domain/portfolio/items.ts';
import { queryDrift, queryItems, queryPortfolios } from '../../../src/domain/portfolio/query.ts';
import { renderEntry } from '../../../src/domain/portfolio/render.ts';
import { countsOf, type PortfolioReport } from '../../../src/domain/portfolio/report.ts';
import { rowsOfWallet } from '../../../src/domain/portfolio/rows.ts';
import type { Portfolio, PortfolioLoop, PortfolioVault } from '../../../src/domain/portfolio/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { NOW_MS } from '../world.ts';
import { portfolioOf, rowOf } from './portfolio-world.ts';
import { BLOCK, held, PROXY, robinhood, WALLET } from './position-world.ts';

/** Wallets as the contract of v1 shows them, and as lists and sums take them. */

const [vault] = robinhood.equityVaults;
if (!vault) throw new Error('a vault expected');
const { yieldMarket: market, stockMarket } = vault;
const d = (value: number | string) => new Decimal(value);
const iso = (ms: number) => new Date(ms).toISOString();
const of = (id: number, over: object = {}) =>
  held(market.id, {
    id,
    collateral: 100n * 10n ** 6n,
    borrowShares: 60n * 10n ** 12n,
    depositedAssets: 40n * 10n ** 6n,
    ...over,
  });
const stock = {
  marketId: stockMarket.id,
  collateral: 20n * 10n ** BigInt(vault.stock.decimals),
  borrowShares: 10n * 10n ** 12n,
};
const complete = rowOf(market.id, {
  addedUsd: d('1.5'),
  removedUsd: d('0.25'),
  returnedUsd: d(7),
  entryPrice: d('1.07'),
  exitPrice: d('1.1'),
  collateralApyPctAtOpen: d('6.1'),
  borrowApyPctAtOpen: d('4.2'),
  leverageApyPctAtOpen: d('9.9'),
  desiredLtvPct: d('62.5'),
  closedAtMs: NOW_MS - 5_000,
  isOpen: false,
});
type Shown = Record<string, unknown> & { readonly positions: readonly Record<string, unknown>[] };
const shown = (portfolio: Portfolio) => renderEntry(portfolio) as unknown as Shown;
const portfolio = (over: Partial<Parameters<typeof portfolioOf>[0]>) => portfolioOf({ chain: robinhood, ...over });

describe('renderEntry', () => {
  test('default: a registered loop that the chain contradicts, with both sides and the repair', () => {
    const wallet = portfolio({ positions: [of(0)], rows: [complete] });
    const [loop] = shown(wallet).positions;
    expect(loop).toMatchObject({
      id: 0,
      chainId: 4663,
      status: 'open',
      dbDrift: 'db_closed_chain_open',
      strategyId: market.id,
      readAt: { blockNumber: '100', blockTime: iso(Number(BLOCK.timestamp) * 1_000) },
      oraclePriceAsOf: iso(1_760_000_000_000),
      registered: {
        isOpen: false,
        depositedUsd: '100',
        addedUsd: '1.5',
        removedUsd: '0.25',
        returnedUsd: '7',
        collateralApyPctAtOpen: '6.1',
        borrowApyPctAtOpen: '4.2',
        leverageApyPctAtOpen: '9.9',
        desiredLtvPct: '62.5',
        entryPrice: '1.07',
        exitPrice: '1.1',
        equityVaultId: null,
        createdAt: iso(complete.createdAtMs),
        updatedAt: iso(complete.updatedAtMs),
        closedAt: iso(NOW_MS - 5_000),
      },
      drift: {
        kind: 'db_closed_chain_open',
        severity: 'high',
        firstSeen: iso(NOW_MS),
        lastSeen: iso(NOW_MS),
        earlier: [],
        suggestedSql: expect.any(String),
        chain: {
          status: 'open',
          blockNumber: '100',
          blockTime: iso(Number(BLOCK.timestamp) * 1_000),
          proxy: PROXY,
          collateral: '100',
          debt: expect.any(String),
          netValueUsd: expect.any(String),
        },
        database: {
          isOpen: false,
          depositedUsd: '101.5',
          returnedUsd: '7.25',
          closedAt: iso(NOW_MS - 5_000),
          createdAt: iso(complete.createdAtMs),
          updatedAt: iso(complete.updatedAtMs),
        },
      },
    });
    for (const field of ['freshness', 'gaps', 'wallet', 'marketId', 'manual', 'oraclePriceAsOfMs']) {
      expect(loop).not.toHaveProperty(field);
    }
    expect([loop?.pnl, shown(wallet).pnl].map((pnl) => Object.keys(pnl as object).includes('gaps'))).toEqual([
      false,
      false,
    ]);
  });

  test('behavior: values that the register lacks are null, and a loop without drift has none', () => {
    const empty = { desiredLtvPct: null };
    const [loop] = shown(portfolio({ positions: [of(0)], rows: [rowOf(market.id, empty)] })).positions;
    expect(loop).toMatchObject({ dbDrift: null, drift: undefined });
    const { registered } = loop as { registered: Record<string, unknown> };
    const absent = [
      'collateralApyPctAtOpen',
      'borrowApyPctAtOpen',
      'leverageApyPctAtOpen',
      'desiredLtvPct',
      'entryPrice',
      'exitPrice',
      'closedAt',
    ];
    expect(absent.map((field) => registered[field])).toEqual(absent.map(() => null));
    const [unregistered] = shown(portfolio({ positions: [of(0)] })).positions;
    expect(unregistered).toMatchObject({ registered: null, dbDrift: 'no_db_row', drift: { database: null } });
  });

  test('behavior: ended items, rows without a position, and a wallet that could not be read', () => {
    const ended = of(1, { open: false, collateral: 0n, borrowShares: 0n });
    const rows = [
      rowOf(market.id, { positionIndex: 1, isOpen: false, closedAtMs: NOW_MS, equityVaultId: vault.id }),
      rowOf(market.id, { positionIndex: 9 }),
    ];
    const document = shown(portfolio({ positions: [of(0), ended, of(2, { open: false, collateral: 0n })], rows }));
    expect(document).toMatchObject({
      address: WALLET,
      chainId: 4663,
      header: { openCount: 1 },
      closed: [
        { kind: 'position', id: 2 },
        {
          kind: 'equity',
          strategyId: vault.id,
          status: 'closed',
          dbDrift: null,
          yieldLoops: [{ id: 1 }],
          stockSymbol: vault.stock.displaySymbol,
        },
      ],
      unresolved: [
        {
          reason: 'no_chain_position',
          marketId: market.id,
          positionIndex: 9,
          message: 'The wallet has no position with this index on this chain.',
          registered: { isOpen: true },
        },
      ],
    });
    const failed = { chainId: 1, wallet: WALLET, failure: { reason: 'timeout', message: 'm' } } as const;
    expect(renderEntry(failed)).toEqual({ chainId: 1, address: WALLET, failure: { reason: 'timeout', message: 'm' } });
  });

  test('behavior: an open vault has its stock leg, its loops and the first drift among them', () => {
    const tagged = (positionIndex: number, isOpen: boolean) =>
      rowOf(market.id, { positionIndex, isOpen, equityVaultId: vault.id });
    const wallet = portfolio({ positions: [of(0), of(1)], stocks: [stock], rows: [tagged(0, true), tagged(1, false)] });
    const [found] = (shown(wallet) as unknown as { equityPositions: Record<string, unknown>[] }).equityPositions;
    expect(found).toMatchObject({
      strategyId: vault.id,
      chainId: 4663,
      status: 'open',
      yieldLoopMatch: 'tagged',
      curator: vault.curator,
      dbDrift: 'db_closed_chain_open',
      stock: { collateral: '20' },
      yieldLoops: [{ id: 1 }, { id: 0 }],
      oraclePriceAsOf: iso(1_760_000_000_000),
      readAt: { blockNumber: '100' },
    });
    for (const field of ['wallet', 'freshness', 'gaps']) expect(found).not.toHaveProperty(field);
  });

  test('behavior: an oracle without feeds needs no date; one that names none has no known date', () => {
    const wallet = portfolio({ positions: [of(0)] });
    const [loop] = wallet.positions as [PortfolioLoop];
    const dated = (oraclePriceAsOfMs: number | null | undefined) =>
      shown({ ...wallet, positions: [{ ...loop, position: { ...loop.position, oraclePriceAsOfMs } }] }).positions[0]
        ?.oraclePriceAsOf;
    expect([dated(null), dated(undefined), dated(0)]).toEqual([null, undefined, iso(0)]);
  });
});

describe('lists and sums', () => {
  const wallet = portfolio({ positions: [of(0)], rows: [rowOf(market.id)] });
  const [plain] = wallet.positions as [PortfolioLoop];
  const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Address;
  const loop = (n: number, pnl: object, more: object = {}): PortfolioLoop => ({
    ...plain,
    position: { ...plain.position, id: n, positionId: `p${n}`, wallet: addressOf(n), ...more },
    pnl: { ...plain.pnl, ...pnl },
  });
  const walletOf = (n: number, items: Partial<Portfolio>): Portfolio => ({
    ...wallet,
    wallet: addressOf(n),
    positions: [],
    equityPositions: [],
    closed: [],
    unresolved: [],
    ...items,
  });
  const reportOf = (entries: readonly Portfolio[]): PortfolioReport => ({
    chainId: 4663,
    blockNumber: 1n,
    asOfMs: NOW_MS,
    computedAtMs: NOW_MS,
    entries,
    counts: countsOf(entries),
    rows: entries.map((portfolio) => ({ portfolio, rows: rowsOfWallet(portfolio) })),
  });
  const vaultWith = (loops: readonly PortfolioLoop[], ltvHeadroomPct?: string | null): PortfolioVault => ({
    kind: 'vault',
    chainId: 4663,
    wallet: addressOf(5),
    vaultId: vault.id,
    status: 'open',
    loops,
    pnl: { gaps: [], netValueUsd: '9' },
    equity: { stock: { ltvHeadroomPct, ltvPct: '41' } } as never,
  });
  const page = { window: { size: 100, fromEnd: false } } as const;

  test('behavior: wallets are ordered by the sum of the known values; one with nothing known comes last', () => {
    const unknown = { netValueUsd: undefined, totalUsd: undefined };
    const entries = [
      walletOf(1, { positions: [loop(1, { netValueUsd: '-1', totalUsd: '3' }), loop(2, unknown)] }),
      walletOf(2, { positions: [loop(3, unknown)] }),
      walletOf(3, { positions: [loop(4, { netValueUsd: '0', totalUsd: '2' })] }),
    ];
    const ordered = (order: 'value' | 'pnl', direction: 'asc' | 'desc') =>
      queryPortfolios([reportOf(entries)], { ...page, filter: {}, order, direction }).edges.map(({ node }) =>
        Number(node.wallet),
      );
    expect([ordered('value', 'asc'), ordered('value', 'desc')]).toEqual([
      [1, 3, 2],
      [3, 1, 2],
    ]);
    expect([ordered('pnl', 'asc'), ordered('pnl', 'desc')]).toEqual([
      [3, 1, 2],
      [1, 3, 2],
    ]);
  });

  test('behavior: a vault has the least headroom of all its parts', () => {
    const parts = [
      loop(1, {}, { ltvHeadroomPct: '12.5' }),
      loop(2, {}, { ltvHeadroomPct: '9' }),
      loop(3, {}, { ltvHeadroomPct: null }),
    ];
    const of = (ltvHeadroomPct?: string | null) => vaultWith(parts, ltvHeadroomPct);
    expect([of('30'), of('4'), of(null)].map(leastHeadroomPct)).toEqual(['9', '4', '9']);
    expect([leastHeadroomPct(vaultWith([], null)), leastHeadroomPct(parts[0] as PortfolioLoop)]).toEqual([
      null,
      '12.5',
    ]);
    const rows = (item: PortfolioVault) => rowsOfWallet(walletOf(5, { equityPositions: [item] }))[0]?.headroomPct;
    expect([rows(of('30')), rows(of(null)), rows(of()), rows({ ...of('30'), equity: null })]).toEqual([
      '9',
      '9',
      '9',
      '9',
    ]);
    const rival = walletOf(6, { positions: [loop(7, {}, { ltvHeadroomPct: '20' })] });
    const listed = (isWhole: boolean) =>
      queryItems([reportOf([walletOf(5, { equityPositions: [of('30')] }), rival])], {
        ...page,
        filter: {},
        order: 'headroom',
        direction: 'asc',
        isWhole,
      }).edges.map(({ node }) => node.key.slice(0, 2));
    expect([listed(true), listed(false)]).toEqual([
      ['eq', 'p7'],
      ['p2', 'eq', 'p1', 'p7', 'p3'],
    ]);
    const byLtv = queryItems(
      [
        reportOf([
          walletOf(5, { equityPositions: [of('30')] }),
          walletOf(6, { positions: [loop(7, {}, { ltvPct: '40' })] }),
        ]),
      ],
      { ...page, filter: { maxHeadroomPct: d(90) }, order: 'ltv', direction: 'asc' },
    ).edges.map(({ node }) => node.key.slice(0, 2));
    expect(byLtv.indexOf('p7')).toBeLessThan(byLtv.indexOf('eq'));
  });

  test('behavior: drift is listed by vault, and by the conditions on its item', () => {
    const drift = (n: number, vaultId: string | null, firstSeenMs: number) =>
      ({
        kind: 'no_db_row',
        severity: 'low',
        chainId: 4663,
        wallet: addressOf(n),
        positionIndex: n,
        positionId: `p${n}`,
        marketId: market.id,
        vaultId,
        firstSeenMs,
      }) as Drift;
    const items = [1, 2, 3].map((n) => ({ ...loop(n, {}), drift: drift(n, n === 2 ? vault.id : null, 10 - n) }));
    const report = reportOf([walletOf(1, { positions: items })]);
    const found = (...query: [Parameters<typeof queryDrift>[1], Parameters<typeof queryDrift>[3]?]) =>
      queryDrift([report], query[0], page, query[1]).edges.map(({ node }) => node.positionId);
    expect([found({}), found({ vaultIds: [vault.id] }), found({ vaultIds: [] })]).toEqual([
      ['p3', 'p2', 'p1'],
      ['p2'],
      [],
    ]);
    expect([found({ kinds: ['db_open_chain_closed'] }), found({}, { wallets: [addressOf(1)] })]).toEqual([[], ['p1']]);
  });

  test('behavior: markets are ordered by net value, and a vault is told from a loop', () => {
    const report = reportOf([
      walletOf(1, { positions: [loop(1, { netValueUsd: '5' })] }),
      walletOf(5, { equityPositions: [vaultWith([])] }),
    ]);
    const sums = beginAggregates([report], {});
    report.rows.forEach(sums.add);
    const { byMarket, all } = sums.finish();
    expect(
      byMarket.map(({ marketId, isVault, netValueUsd }) => [marketId, isVault, netValueUsd.usd.toFixed()]),
    ).toEqual([
      [stockMarket.id, true, '9'],
      [market.id, false, '5'],
    ]);
    expect([all.totalUsd.unknown, all.netValueUsd.unknown, all.count]).toEqual([1, 0, 2]);
  });
});

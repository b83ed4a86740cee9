import { describe, expect, test } from 'vitest';
import { driftKey } from '../../src/domain/drift/find.ts';
import { repairOf } from '../../src/domain/drift/repair.ts';
import { beginAggregates, type PortfolioAggregates } from '../../src/domain/portfolio/aggregates.ts';
import { driftOf, isFailed } from '../../src/domain/portfolio/items.ts';
import {
  type ItemFilter,
  PORTFOLIO_ORDERS,
  queryDrift,
  queryItems,
  queryPortfolios,
} from '../../src/domain/portfolio/query.ts';
import { countsOf, type PortfolioReport } from '../../src/domain/portfolio/report.ts';
import { rowsOfWallet } from '../../src/domain/portfolio/rows.ts';
import type { PortfolioEntry } from '../../src/domain/portfolio/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { portfolioOf, rowOf } from './position/portfolio-world.ts';
import { BLOCK, ethereum, held, PROXY, robinhood, WALLET } from './position/position-world.ts';
import { NOW_MS } from './world.ts';

const [vault] = robinhood.equityVaults;
const market = robinhood.markets[0];
const other = robinhood.markets.find(({ id, kind }) => kind === 'loop' && id !== market?.id);
const foreign = ethereum.markets[0];
if (!vault || !market || !other || !foreign) throw new Error('markets expected');
const amounts = { collateral: 10n ** 20n, borrowShares: 10n ** 9n, depositedAssets: 10n ** 8n };
const open = held(market.id, amounts);
const closed = held(market.id, { open: false, depositedAssets: 10n ** 8n });
const liquidated = held(market.id, { depositedAssets: 10n ** 8n });

describe('findDrift', () => {
  test.each([
    ['open', open, true, null, null],
    ['open', open, false, 'db_closed_chain_open', 'high'],
    ['open', open, undefined, 'no_db_row', 'high'],
    ['closed', closed, false, null, null],
    ['closed', closed, true, 'db_open_chain_closed', 'medium'],
    ['closed', closed, undefined, 'no_db_row', 'low'],
    ['liquidated', liquidated, false, null, null],
    ['liquidated', liquidated, true, 'db_open_chain_closed', 'high'],
    ['liquidated', liquidated, undefined, 'no_db_row', 'low'],
  ] as const)('default: %s on chain, registered open = %#', (_status, position, isOpen, kind, severity) => {
    const rows = isOpen === undefined ? [] : [rowOf(market.id, { isOpen })];
    const [drift, ...more] = driftOf(portfolioOf({ chain: robinhood, positions: [position], rows }));
    expect(more).toEqual([]);
    expect([drift?.kind ?? null, drift?.severity ?? null]).toEqual([kind, severity]);
  });

  test('behavior: has the evidence of both sides and the first sighting', () => {
    const observed = { chain: robinhood, positions: [closed], rows: [rowOf(market.id)] };
    const key = driftKey({ wallet: WALLET, positionIndex: 0, kind: 'db_open_chain_closed' });
    const [drift] = driftOf(
      portfolioOf({
        ...observed,
        known: new Map([[key, { firstSeenMs: 1_234, earlier: [{ firstSeenMs: 1, lastSeenMs: 2, goneMs: 3 }] }]]),
      }),
    );
    expect(drift).toMatchObject({
      wallet: WALLET,
      positionId: `4663-${market.id}-0`,
      firstSeenMs: 1_234,
      lastSeenMs: NOW_MS,
      earlier: [{ firstSeenMs: 1, lastSeenMs: 2, goneMs: 3 }],
      chain: { status: 'closed', blockNumber: BLOCK.number, proxy: PROXY, collateral: '0', debt: '0' },
      register: { isOpen: true, depositedUsd: '100', returnedUsd: '0', closedAtMs: null },
    });
    expect(driftOf(portfolioOf(observed))[0]?.firstSeenMs).toBe(NOW_MS);
    const flows = { addedUsd: new Decimal('5'), removedUsd: new Decimal('1.5'), returnedUsd: new Decimal('2') };
    const [moved] = driftOf(portfolioOf({ ...observed, rows: [rowOf(market.id, flows)] }));
    expect(moved?.register).toMatchObject({ depositedUsd: '105', returnedUsd: '3.5' });
    // Written by a process whose clock was ahead: nothing is known since tomorrow.
    const ahead = portfolioOf({
      ...observed,
      known: new Map([[key, { firstSeenMs: NOW_MS + 86_400_000, earlier: [] }]]),
    });
    expect(driftOf(ahead)[0]?.firstSeenMs).toBe(NOW_MS);
  });
});

describe('repairOf', () => {
  const key = {
    chainId: 4663,
    wallet: WALLET,
    marketId: market.id,
    positionIndex: 2,
    vaultId: null,
    otherMarketId: null,
    chain: { status: 'open' },
  } as const;

  test('default: changes one row to the state on chain, and only while it is still wrong', () => {
    const where = `where chain_id = 4663 and wallet = '${WALLET.toLowerCase()}' and market_id = '${market.id}' and position_index = 2`;
    expect(repairOf({ ...key, kind: 'db_open_chain_closed' })).toBe(
      `update position_registrations set is_open = false, closed_at = now(), updated_at = now()\n${where} and is_open;`,
    );
    expect(repairOf({ ...key, kind: 'db_closed_chain_open' })).toBe(
      `update position_registrations set is_open = true, closed_at = null, updated_at = now()\n${where} and not is_open;`,
    );
    expect(repairOf({ ...key, kind: 'no_db_row' })).toMatch(
      /^insert into position_registrations [^;]*, 2, null, true, :deposited_usd,[^;]*do nothing;$/,
    );
    expect(repairOf({ ...key, kind: 'no_db_row', vaultId: vault.id })).toContain(`, 2, '${vault.id}', true, `);
    const elsewhere = repairOf({ ...key, kind: 'no_db_row', otherMarketId: other.id, chain: { status: 'closed' } });
    expect(elsewhere).toMatch(/^update .* set market_id = '0x[0-9a-f]{64}', is_open = false, closed_at = now\(\), /);
    expect(elsewhere).toContain(`market_id = '${other.id}' and position_index = 2;`);
  });

  test.each([
    { wallet: `${WALLET}'; drop table position_registrations; --` },
    { wallet: `x'${WALLET}` },
    { wallet: `${WALLET}\n` },
    { marketId: `${market.id}' or true --` },
    { vaultId: `${vault.id}'; drop table x; --` },
    { otherMarketId: `${market.id}' or true --` },
    { positionIndex: '1 or true' },
    { positionIndex: Number.NaN },
    { positionIndex: -1 },
    { positionIndex: 2 ** 31 },
    { chainId: '1; drop table x' },
  ])('error: suggests nothing for %o', (hostile) => {
    for (const kind of ['no_db_row', 'db_open_chain_closed', 'db_closed_chain_open'] as const) {
      expect(repairOf({ ...key, ...(hostile as object), kind })).toBeNull();
    }
  });
});

describe('unresolved rows', () => {
  const reasonsOf = (marketId: MarketId, positionIndex: number) =>
    portfolioOf({ chain: robinhood, positions: [open], rows: [rowOf(market.id), rowOf(marketId, { positionIndex })] });

  test.each([
    ['market_not_configured', `0x${'ab'.repeat(32)}` as MarketId, 5],
    ['no_chain_position', market.id, 5],
    ['no_chain_position', other.id, 5],
    ['chain_mismatch', foreign.id, 5],
  ] as const)('default: %s', (reason, marketId, positionIndex) => {
    const portfolio = reasonsOf(marketId, positionIndex);
    expect(portfolio.unresolved.map((row) => row.reason)).toEqual([reason]);
    expect(driftOf(portfolio)).toEqual([]);
  });

  test('behavior: a row with another market than its position is a mismatch, and the position has no row', () => {
    const portfolio = portfolioOf({ chain: robinhood, positions: [open], rows: [rowOf(other.id)] });
    expect(portfolio.unresolved.map(({ reason }) => reason)).toEqual(['chain_mismatch']);
    expect(driftOf(portfolio)).toMatchObject([{ kind: 'no_db_row', otherMarketId: other.id }]);
    expect(driftOf(portfolio)[0]?.message).toMatch(/has another market\.$/);
  });
});

const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Address;

function reportOf(entries: readonly PortfolioEntry[]): PortfolioReport {
  return {
    chainId: 4663,
    blockNumber: 100n,
    asOfMs: NOW_MS,
    computedAtMs: NOW_MS,
    entries,
    rows: entries.flatMap((entry) => (isFailed(entry) ? [] : [{ portfolio: entry, rows: rowsOfWallet(entry) }])),
    counts: countsOf(entries),
  };
}

/** Wallets with one position each, of growing size; one that cannot be read. */
const many = reportOf([
  ...Array.from({ length: 9 }, (_, i) => {
    const position = held(market.id, { ...amounts, collateral: BigInt(i + 1) * 10n ** 20n });
    const portfolio = portfolioOf({
      chain: robinhood,
      positions: [position],
      rows: i % 3 === 0 ? [] : [rowOf(market.id)],
    });
    const { positions } = portfolio;
    const wallet = addressOf(i + 1);
    return {
      ...portfolio,
      wallet,
      positions: positions.map((loop) => ({
        ...loop,
        position: { ...loop.position, wallet },
        drift: loop.drift && { ...loop.drift, wallet },
      })),
    };
  }),
  { chainId: 4663, wallet: addressOf(99), failure: { reason: 'reverted', message: '' } },
]);

function aggregate(filter: ItemFilter): PortfolioAggregates {
  const sums = beginAggregates([many], filter);
  many.rows.forEach(sums.add);
  return sums.finish();
}

describe('queries', () => {
  const all = { filter: {}, order: 'value', direction: 'desc', window: { size: 100, fromEnd: false } } as const;

  test('default: orders wallets by value; counts unreadable ones without listing them', () => {
    const listed = queryPortfolios([many], all);
    expect(listed.edges.map(({ node }) => node.wallet)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1].map(addressOf));
    expect(many.counts).toMatchObject({ users: 10, failed: 1, open: 9, drift: 3 });
    expect(aggregate({})).toMatchObject({ wallets: 9, failedWallets: 1, all: { count: 9 } });
  });

  test('behavior: pages neither repeat nor skip, also when entries disappear', () => {
    const first = queryItems([many], { ...all, window: { size: 4, fromEnd: false } });
    const after = first.edges.at(-1)?.cursor as string;
    const without = reportOf(many.entries.filter(({ wallet }) => wallet !== addressOf(9)));
    for (const report of [many, without]) {
      const rest = queryItems([report], { ...all, after });
      expect(rest.edges.map(({ node }) => node.wallet)).toEqual([5, 4, 3, 2, 1].map(addressOf));
    }
  });

  test('behavior: drift is filtered by kind, severity and wallet', () => {
    const found = (filter: Parameters<typeof queryDrift>[1]) =>
      queryDrift([many], filter, { window: { size: 10, fromEnd: false } }).totalCount;
    expect(found({})).toBe(3);
    expect(found({ kinds: ['no_db_row'], severities: ['high'] })).toBe(3);
    expect(found({ kinds: ['db_open_chain_closed'] })).toBe(0);
    expect(found({ wallets: [addressOf(4)] })).toBe(1);
    expect(found({ vaultIds: [vault.id] })).toBe(0);
  });

  test('behavior: drift of the loops that match is as many as the sums count', () => {
    const page = { window: { size: 10, fromEnd: false } };
    const filters: ItemFilter[] = [
      {},
      { statuses: ['closed'] },
      { wallets: [addressOf(4)] },
      { driftKinds: ['no_db_row'] },
    ];
    const counts = filters.map((filter) => queryDrift([many], {}, page, filter).totalCount);
    expect(counts).toEqual([3, 0, 1, 3]);
    const summed = filters.map((filter) => aggregate(filter).byDriftKind.reduce((sum, { count }) => sum + count, 0));
    expect(summed).toEqual(counts);
  });

  test('behavior: whole items are as many as the sums count, and every order lists each once', () => {
    for (const order of PORTFOLIO_ORDERS) {
      for (const direction of ['asc', 'desc'] as const) {
        const query = { ...all, order, direction, isWhole: true };
        const whole = queryItems([many], query);
        expect(whole.totalCount).toBe(aggregate({}).all.count);
        const first = queryItems([many], { ...query, window: { size: 4, fromEnd: false } });
        const after = first.edges.at(-1)?.cursor;
        const rest = queryItems([many], { ...query, after });
        expect([...first.edges, ...rest.edges]).toEqual(whole.edges);
      }
    }
    const wallets = queryItems([many], { ...all, order: 'wallet', direction: 'desc' }).edges.map(
      ({ node }) => node.wallet,
    );
    expect(wallets).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1].map(addressOf));
  });

  test('behavior: sums cover the matches and count unknown values', () => {
    const { all: sums, byMarket, byDriftKind } = aggregate({ driftKinds: ['no_db_row'] });
    expect(sums).toMatchObject({ count: 3, totalUsd: { unknown: 0 } });
    expect(byMarket).toMatchObject([{ marketId: market.id, count: 3, isVault: false }]);
    expect(byDriftKind[0]).toEqual({ kind: 'no_db_row', count: 3, bySeverity: { high: 3, medium: 0, low: 0 } });
  });

  test('error: BadRequestError for a cursor of another order', () => {
    const [edge] = queryItems([many], all).edges;
    const foreignOrder = { ...all, order: 'pnl', after: edge?.cursor as string } as const;
    expect(() => queryItems([many], foreignOrder)).toThrow(BadRequestError);
    expect(() => queryItems([many], { ...all, after: 'nonsense' })).toThrow(BadRequestError);
  });

  test('error: BadRequestError for a cursor of another list', () => {
    const byAge = { ...all, order: 'age', direction: 'asc' } as const;
    const lists = [
      queryItems,
      queryPortfolios,
      (...[reports, query]: Parameters<typeof queryItems>) => queryDrift(reports, {}, query),
    ];
    for (const [i, list] of lists.entries()) {
      const cursor = list([many], byAge).edges[0]?.cursor as string;
      for (const [j, other] of lists.entries()) {
        for (const query of [
          { ...byAge, after: cursor },
          { ...byAge, before: cursor },
        ]) {
          if (i === j) expect(other([many], query).totalCount).toBeGreaterThan(0);
          else expect(() => other([many], query)).toThrow(BadRequestError);
        }
      }
    }
  });
});

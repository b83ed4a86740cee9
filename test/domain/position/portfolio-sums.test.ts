import { describe, expect, test } from 'vitest';
import { beginAggregates } from '../../../src/domain/portfolio/aggregates.ts';
import { pageOfEntries } from '../../../src/domain/portfolio/entries.ts';
import { sumPnl } from '../../../src/domain/portfolio/pnl.ts';
import type { ItemFilter } from '../../../src/domain/portfolio/query.ts';
import { beginSample } from '../../../src/domain/portfolio/report.ts';
import type { Pnl, UnresolvedReason } from '../../../src/domain/portfolio/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { BadRequestError } from '../../../src/shared/errors.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { NOW_MS } from '../world.ts';
import { addressOf, page, plain, report, walletOf, wallets } from './portfolio-lists-world.ts';

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

  test('default: each amount once, with a count of the unknown ones', () => {
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

  test('sumPnl: reports a sold part only where the amounts are known', () => {
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

  test('error: BadRequestError for a text that is no address', () => {
    for (const cursor of ['', 'x', `${addressOf(1)}0`, `0${addressOf(1)}`]) {
      expect(() => cut({ after: cursor })).toThrow(BadRequestError);
      expect(() => cut({ before: cursor })).toThrow(BadRequestError);
    }
  });
});

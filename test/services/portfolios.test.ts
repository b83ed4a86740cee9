import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Registration } from '../../src/database/registrations.ts';
import { driftKey } from '../../src/domain/drift/find.ts';
import type { KnownDrift } from '../../src/domain/drift/types.ts';
import { driftOf, isFailed } from '../../src/domain/portfolio/items.ts';
import type { PortfolioSample } from '../../src/domain/portfolio/report.ts';
import type { OpsPort } from '../../src/resolvers/ops/ops-services.ts';
import { createPortfolios, WALLETS_PER_PAGE } from '../../src/services/portfolios.ts';
import { byAddress, createWalletDirectory } from '../../src/services/wallets.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import type { Address } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { catalog, type PositionWorld, startPositionWorld, walletOf } from '../chain/position-world.ts';
import { rowOf } from '../domain/position/portfolio-world.ts';
import { composedOf, robinhood } from '../domain/position/position-world.ts';
import { completeFacts, NOW_MS } from '../domain/world.ts';

const market = robinhood.markets[0];
if (!market) throw new Error('a market expected');
const facts = completeFacts(robinhood);
const composed = composedOf(robinhood, facts);

let world: PositionWorld;
let rows: Registration[];
let statements: string[];
let down: Error | null;
let observed: Map<string, KnownDrift>;
let samples: PortfolioSample[];
let nowMs: number;
let hold: Promise<void> | null;
/** Timers that fire on demand. */
let fire: () => void;
let port: OpsPort;

const registered = (wallet: Address, over: Partial<Registration> = {}): Registration =>
  ({ ...rowOf(market.id), wallet, ...over }) as Registration;

beforeEach(async () => {
  world = await startPositionWorld(4663);
  rows = [];
  statements = [];
  down = null;
  observed = new Map();
  samples = [];
  nowMs = NOW_MS;
  hold = null;
  fire = () => {};
  port = make();
});
afterEach(async () => {
  expect(world.node.unknown).toEqual([]);
  await world.node.close();
});

function make(): OpsPort {
  const readers = new Map([[4663, world.reader]]);
  const statement = async (name: string) => {
    statements.push(name);
    await hold;
    if (down) throw down;
  };
  return createPortfolios({
    catalog,
    readers,
    directory: createWalletDirectory({
      catalog,
      readers,
      logger: silentLogger,
      proxies: { read: async () => [], save: async () => {} },
    }),
    partSales: async () => new Map(),
    registrations: {
      byWallets: async (wallets) => {
        await statement('byWallets');
        return new Map(wallets.map((wallet) => [wallet, rows.filter((row) => row.wallet === wallet)]));
      },
      pageOfChain: async (_chainId, { limit, after }) => {
        await statement('pageOfChain');
        const place = (a: { wallet: Address; positionIndex: number }, b: typeof a) =>
          byAddress(a.wallet, b.wallet) || a.positionIndex - b.positionIndex;
        const rest = rows.toSorted(place).filter((row) => !after || place(row, after) > 0);
        const page = rest.slice(0, Math.min(limit, 3)); // small pages: wallets reach over their ends
        const last = page.at(-1);
        return { rows: page, next: rest.length > page.length && last ? last : null };
      },
    },
    drift: {
      known: async () => {
        await statement('known');
        return new Map(observed);
      },
      record: async ({ found, wallets, atMs }) => {
        await statement('drift');
        const keys = new Set(found.map(driftKey));
        for (const key of keys) observed.set(key, { firstSeenMs: observed.get(key)?.firstSeenMs ?? atMs, earlier: [] });
        const isListed = (list: readonly Address[], key: string) =>
          list.some((wallet) => key.startsWith(wallet.toLowerCase()));
        for (const key of observed.keys()) {
          const isRead = 'only' in wallets ? isListed(wallets.only, key) : !isListed(wallets.except, key);
          if (isRead && !keys.has(key)) observed.delete(key);
        }
      },
    },
    samples: {
      record: async (sample) => {
        await statement('record');
        samples.push(sample);
      },
      since: async () => samples,
    },
    composed: () => composed,
    facts: () => facts,
    clock: { now: () => nowMs },
    timers: {
      setTimeout: (callback) => {
        fire = callback;
      },
      clearTimeout: () => {},
    },
    logger: silentLogger,
    staleAfterSec: 60,
  });
}

const open = (wallet: Address) =>
  world.open(wallet, { marketId: market.id, collateral: 10n ** 20n, borrowShares: 10n ** 9n });
const read = async () => (await port.report(4663)).report;
const pass = (ms: number) => {
  nowMs += ms;
};

describe('report', () => {
  test('default: wallets of the chain and of the register, each with its rows, ordered by address', async () => {
    for (const n of [5, 1, 3]) open(walletOf(n));
    open(walletOf(3));
    rows = [
      ...[0, 1].map((positionIndex) => registered(walletOf(3), { positionIndex })),
      ...[0, 1, 2, 3, 4].map((positionIndex) => registered(walletOf(2), { positionIndex })),
      registered(walletOf(5)),
      registered(walletOf(9)),
    ];
    const report = await read();
    const shown = report.entries.map((entry) => {
      if (isFailed(entry)) throw new Error('a failed wallet');
      return [entry.wallet, entry.positions.length, driftOf(entry).length, entry.unresolved.length];
    });
    expect(shown).toEqual([
      [walletOf(1), 1, 1, 0],
      [walletOf(2), 0, 0, 5],
      [walletOf(3), 2, 0, 0],
      [walletOf(5), 1, 0, 0],
      [walletOf(9), 0, 0, 1],
    ]);
    expect(report.counts).toMatchObject({ users: 5, open: 4, drift: 1, unresolved: 6, failed: 0 });
    expect(samples).toMatchObject([{ chainId: 4663, positions: 4 }]);
  });

  test('behavior: requests grow with the pages of wallets, not with the wallets', async () => {
    const requestsOf = async (wallets: number) => {
      await world.node.close();
      world = await startPositionWorld(4663);
      for (let n = 0; n < wallets; n += 1) open(walletOf(n));
      port = make();
      world.requests = 0;
      const { counts } = await read();
      expect(counts.open).toBe(wallets);
      return world.requests;
    };
    const onePage = await requestsOf(10);
    // At most three a page: the markets do not wait until the calls about many wallets are written.
    expect(await requestsOf(WALLETS_PER_PAGE)).toBeLessThanOrEqual(onePage + 1);
    expect(await requestsOf(WALLETS_PER_PAGE * 2 + 1)).toBeLessThanOrEqual(onePage + 1 + 2 * 3);
  });

  test('behavior: cached for a minute, and computed once for concurrent callers', async () => {
    open(walletOf(1));
    const [first, same] = await Promise.all([port.report(4663), port.report(4663)]);
    expect(same.report).toBe(first.report);
    pass(59_999);
    expect(await read()).toBe(first.report);
    pass(1);
    const [next, alike] = await Promise.all([port.report(4663), port.report(4663)]);
    expect(next.report).not.toBe(first.report);
    expect(alike.report).toBe(next.report);
    expect(next.report.computedAtMs).toBe(NOW_MS + 60_000);
    expect(statements.filter((name) => name === 'record')).toHaveLength(2);
  });

  test('behavior: serves the older report during a long recompute', async () => {
    open(walletOf(1));
    const first = await read();
    pass(61_000);
    let release = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const waiting = port.report(4663);
    fire();
    expect(await waiting).toMatchObject({ report: first, failure: null });
    release();
    hold = null;
    expect((await read()).computedAtMs).toBe(NOW_MS + 61_000);
  });

  test('behavior: one unreadable wallet does not affect the others', async () => {
    for (const n of [1, 2, 3, 4]) open(walletOf(n));
    rows = [1, 2, 3, 4].map((n) => registered(walletOf(n)));
    world.poison(walletOf(2), 'revert');
    rows[2] = registered(walletOf(3), { depositedUsd: new Decimal(Number.NaN) });
    const { entries, counts } = await read();
    expect(entries.map((entry) => (isFailed(entry) ? entry.failure.reason : entry.positions.length))).toEqual([
      1,
      'reverted',
      'malformed',
      1,
    ]);
    expect(counts).toMatchObject({ users: 4, open: 2, drift: 0, failed: 2 });
  });

  test.each([
    [
      'the database',
      'database',
      () => {
        down = new UpstreamUnavailableError('database', 'unreachable');
      },
      () => {
        down = null;
      },
    ],
    [
      'the chain',
      'chain',
      () => {
        world.node.broken = { status: 500 };
      },
      () => {
        world.node.broken = null;
      },
    ],
  ] as const)(
    'behavior: without %s serves the last good report as degraded, then a new one',
    async (_, provider, fail, heal) => {
      open(walletOf(1));
      const good = await read();
      fail();
      pass(60_000);
      const failedAt = nowMs;
      const recorded = statements.filter((name) => name === 'drift').length;
      expect(await port.report(4663)).toMatchObject({ report: good, failure: { provider, sinceMs: failedAt } });
      // A failed reading says nothing about drift.
      expect([recorded, statements.filter((name) => name === 'drift').length, observed.size]).toEqual([1, 1, 1]);
      pass(30_000);
      expect(await port.report(4663)).toMatchObject({ report: good, failure: { provider, sinceMs: failedAt } });
      heal();
      pass(5_000);
      const healed = await port.report(4663);
      expect(healed.failure).toBeNull();
      expect(healed.report.computedAtMs).toBe(nowMs);
    },
  );

  test('behavior: pauses reading after a failure', async () => {
    down = new UpstreamUnavailableError('database', 'unreachable');
    await expect(port.report(4663)).rejects.toBe(down);
    const requested = statements.length;
    await expect(port.report(4663)).rejects.toBe(down);
    expect(statements).toHaveLength(requested);
    pass(5_000);
    await expect(port.report(4663)).rejects.toBe(down);
    expect(statements.length).toBeGreaterThan(requested);
  });

  test('behavior: a disagreement keeps its first sighting until it is resolved, also while its wallet is unreadable', async () => {
    open(walletOf(1));
    open(walletOf(2));
    const firstSeen = async (): Promise<number[]> => {
      const { entries } = await read();
      return entries.flatMap((entry) => driftOf(entry).map(({ firstSeenMs }) => firstSeenMs));
    };
    expect(await firstSeen()).toEqual([NOW_MS, NOW_MS]);
    rows = [registered(walletOf(2))];
    world.poison(walletOf(1), 'revert');
    pass(60_000);
    expect(await firstSeen()).toEqual([]);
    expect(observed.size).toBe(1);
    rows = [];
    port = make();
    await world.node.close();
    world = await startPositionWorld(4663);
    open(walletOf(1));
    open(walletOf(2));
    port = make();
    pass(60_000);
    expect(await firstSeen()).toEqual([NOW_MS, NOW_MS + 120_000]);
  });
});

describe('live', () => {
  const live = async (wallet: Address) => {
    const portfolio = (await port.live(4663, [wallet])).get(wallet);
    if (!portfolio || portfolio instanceof Error) throw portfolio ?? new Error('no answer');
    return portfolio;
  };

  test('default: one wallet, with its rows', async () => {
    open(walletOf(1));
    rows = [registered(walletOf(1), { isOpen: false })];
    const portfolio = await live(walletOf(1));
    expect(driftOf(portfolio).map(({ kind }) => kind)).toEqual(['db_closed_chain_open']);
    expect(observed.size).toBe(1);
    rows = [registered(walletOf(1))];
    await live(walletOf(2));
    expect(observed.size).toBe(1);
    await live(walletOf(1));
    expect(observed.size).toBe(0);
    expect(statements.slice(0, 3)).toEqual(['byWallets', 'known', 'drift']);
  });

  test('behavior: many wallets take as many requests and statements as one, and a failing one affects no other', async () => {
    const wallets = Array.from({ length: 50 }, (_, i) => walletOf(i));
    for (const wallet of wallets) open(wallet);
    await live(walletOf(0));
    const [requests, before] = [world.requests, statements.length];
    world.poison(walletOf(7), 'revert');
    rows = [registered(walletOf(8), { addedUsd: new Decimal(Number.NaN) })];
    world.requests = 0;
    const found = await port.live(4663, wallets);
    expect([found.get(walletOf(7)), found.get(walletOf(8))]).toEqual([
      expect.any(ChainReadError),
      expect.any(UpstreamUnavailableError),
    ]);
    expect([...found.values()].filter((portfolio) => !(portfolio instanceof Error))).toHaveLength(48);
    expect(statements.length - before).toBe(before);
    // One more request identifies the wallet that reverts.
    expect(world.requests).toBeLessThanOrEqual(requests + 3);
  });

  test('error: ChainReadError, UpstreamUnavailableError', async () => {
    world.poison(walletOf(1), 'revert');
    await expect(live(walletOf(1))).rejects.toBeInstanceOf(ChainReadError);
    rows = [registered(walletOf(2), { addedUsd: new Decimal(Number.NaN) })];
    await expect(live(walletOf(2))).rejects.toBeInstanceOf(UpstreamUnavailableError);
    down = new UpstreamUnavailableError('database', 'unreachable');
    await expect(live(walletOf(3))).rejects.toBe(down);
  });
});

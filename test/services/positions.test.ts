import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Registration } from '../../src/database/registrations.ts';
import { createPositionLoaders, type PositionSources } from '../../src/loaders/positions.ts';
import type { PositionsPort } from '../../src/resolvers/position/position-services.ts';
import { createPositions } from '../../src/services/positions.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import type { Address, ChainId } from '../../src/shared/ids.ts';
import { catalog, type PositionWorld, startPositionWorld, walletOf } from '../chain/position-world.ts';
import { blockOf } from '../chain/scripted-node.ts';
import { composedOf, robinhood } from '../domain/position/position-world.ts';

const [vault] = robinhood.equityVaults;
if (!vault) throw new Error('a vault expected');

let world: PositionWorld;
let statements: (readonly Address[])[];
let rows: Map<Address, readonly Registration[]> | Error;
let port: PositionsPort;
beforeEach(async () => {
  world = await startPositionWorld(4663);
  statements = [];
  rows = new Map();
  port = createPositions({
    catalog,
    readers: new Map([[4663, world.reader]]),
    directory: {
      find: async () => ({
        wallets: [1, 2, 3, 4, 5].map(walletOf),
        block: blockOf({ blockNumber: 100n, timestamp: 1_700_000_000n }),
        unreadable: 0,
      }),
    },
    registrations: {
      byWallets: async (wallets) => {
        statements.push(wallets);
        if (rows instanceof Error) throw rows;
        return rows;
      },
    },
    composed: () => composedOf(robinhood),
  });
});
afterEach(async () => {
  expect(world.node.unknown).toEqual([]);
  await world.node.close();
});

const stock = { collateral: 10n ** 20n, borrowShares: 10n ** 13n };
const tagRow = (wallet: Address, positionIndex: number): Registration =>
  ({
    wallet,
    chainId: 4663,
    marketId: vault.yieldMarket.id,
    positionIndex,
    equityVaultId: vault.id,
  }) as Registration;

describe('read', () => {
  test('behavior: any number of wallets takes at most 4 requests and one statement for those with a vault', async () => {
    const wallets = Array.from({ length: 400 }, (_, i) => walletOf(i));
    for (const wallet of wallets) world.open(wallet, { marketId: vault.yieldMarket.id });
    world.hold(walletOf(3), vault.stockMarket.id, stock);
    world.hold(walletOf(5), vault.stockMarket.id, stock);
    rows = new Map([[walletOf(3), [tagRow(walletOf(3), 0)]]]);
    const read = await port.read(4663, wallets);
    expect(world.requests).toBeLessThanOrEqual(4);
    expect(statements).toEqual([[walletOf(3), walletOf(5)]]);
    expect(read.size).toBe(400);
    expect(read.get(walletOf(3))).toMatchObject({
      tags: new Map([[0, { vaultId: vault.id, marketId: vault.yieldMarket.id }]]),
      holdings: { stocks: [{ marketId: vault.stockMarket.id }] },
    });
  });

  test('behavior: runs no statement without a vault', async () => {
    await port.read(4663, [walletOf(1)]);
    expect(statements).toEqual([]);
  });

  test('behavior: without the database only wallets with a vault fail', async () => {
    rows = new UpstreamUnavailableError('database', 'unreachable');
    world.hold(walletOf(1), vault.stockMarket.id, stock);
    const read = await port.read(4663, [walletOf(1), walletOf(2)]);
    expect(read.get(walletOf(1))).toBe(rows);
    expect(read.get(walletOf(2))).toMatchObject({ holdings: { positions: [] } });
  });

  test('behavior: an unreadable wallet affects no other', async () => {
    world.poison(walletOf(1), 'revert');
    world.open(walletOf(2));
    const read = await port.read(4663, [walletOf(1), walletOf(2)]);
    expect(read.get(walletOf(1))).toBeInstanceOf(ChainReadError);
    expect(read.get(walletOf(2))).toMatchObject({ holdings: { positions: [{ id: 0 }] } });
  });

  test('error: ChainReadError', async () => {
    world.node.broken = { status: 500 };
    await expect(port.read(4663, [walletOf(1)])).rejects.toBeInstanceOf(ChainReadError);
  });
});

describe('vaultOf', () => {
  test('default', async () => {
    world.open(walletOf(1), { marketId: vault.yieldMarket.id });
    world.open(walletOf(1), { marketId: vault.yieldMarket.id });
    world.hold(walletOf(1), vault.stockMarket.id, stock);
    rows = new Map([[walletOf(1), [tagRow(walletOf(1), 1)]]]);
    expect(await port.vaultOf(4663, walletOf(1), 1)).toEqual({ vaultId: vault.id, match: 'tagged', loopIds: [1] });
    expect(await port.vaultOf(4663, walletOf(1), 0)).toBeNull();
    expect(await port.vaultOf(4663, walletOf(2), 0)).toBeNull();
  });

  test('error: the reason of its failure', async () => {
    world.poison(walletOf(1), 'revert');
    await expect(port.vaultOf(4663, walletOf(1), 0)).rejects.toMatchObject({ reason: 'reverted' });
  });
});

describe('page', () => {
  test('default: all wallets page by page, in the order of their addresses', async () => {
    for (const n of [1, 2, 3, 4, 5]) world.open(walletOf(n));
    world.poison(walletOf(4), 'revert');
    const first = await port.page(4663, { limit: 3 });
    expect(first).toMatchObject({ totalCount: 5, next: walletOf(3), unreadable: [] });
    expect(first.wallets.map(({ wallet }) => wallet)).toEqual([1, 2, 3].map(walletOf));
    const last = await port.page(4663, { limit: 3, after: first.next });
    expect(last).toMatchObject({ totalCount: 5, next: null, unreadable: [walletOf(4)] });
    expect(last.wallets.map(({ wallet }) => wallet)).toEqual([walletOf(5)]);
  });
});

describe('createPositionLoaders', () => {
  const nothing = async () => new Map();
  const none: PositionSources = {
    positions: { read: nothing, registered: nothing },
    leverage: { proxyOwners: nothing },
    positionHistory: { read: async () => [], readEvents: async () => [] },
    ops: { live: nothing, report: async () => Promise.reject(new Error('not asked')) },
  };

  test('behavior: loads of one tick are one read per chain; a repeated wallet is read once', async () => {
    const reads: [ChainId, number][] = [];
    const read = async (chainId: ChainId, wallets: readonly Address[]) => {
      reads.push([chainId, wallets.length]);
      return new Map(wallets.map((wallet) => [wallet, new Error(wallet)]));
    };
    const loaders = createPositionLoaders({
      positions: { read, registered: nothing },
      leverage: none.leverage,
      positionHistory: none.positionHistory,
      ops: { ...none.ops, live: read },
    });
    const keys = [
      ...Array.from({ length: 50 }, (_, i) => ({ chainId: 1, wallet: walletOf(i) })),
      { chainId: 4663, wallet: walletOf(0) },
      { chainId: 1, wallet: walletOf(0) },
    ];
    for (const loader of [loaders.wallet, loaders.portfolio]) {
      reads.length = 0;
      const answers = await loader.loadMany(keys);
      expect(reads).toEqual([
        [1, 50],
        [4663, 1],
      ]);
      expect(answers[7]).toEqual(new Error(walletOf(7)));
    }
  });

  test('behavior: asks the addresses of one tick for their owners together', async () => {
    const requested: number[] = [];
    const owner = { owner: walletOf(9), positionId: 2 };
    const loaders = createPositionLoaders({
      ...none,
      leverage: {
        proxyOwners: async (_chainId, addresses) => {
          requested.push(addresses.length);
          return new Map(addresses.map((address) => [address, address === walletOf(3) ? owner : null]));
        },
      },
    });
    const keys = Array.from({ length: 50 }, (_, i) => ({ chainId: 1, wallet: walletOf(i) }));
    const answers = await loaders.proxyOwner.loadMany(keys);
    expect(requested).toEqual([50]);
    expect(answers.filter((answer) => answer !== null)).toEqual([owner]);
    expect(answers[3]).toEqual(owner);
  });

  test('error: an unreadable chain fails only its wallets', async () => {
    const block = { number: 1n, timestamp: 1n };
    const loaders = createPositionLoaders({
      ...none,
      positions: {
        registered: nothing,
        read: async (chainId, wallets) => {
          if (chainId === 1) throw new ChainReadError('unreachable');
          const read = (wallet: Address) => ({ chainId, wallet, block, positions: [], stocks: [] });
          return new Map(wallets.map((wallet) => [wallet, { holdings: read(wallet), tags: new Map() }]));
        },
      },
    });
    const [failed, fine] = await loaders.wallet.loadMany([
      { chainId: 1, wallet: walletOf(0) },
      { chainId: 4663, wallet: walletOf(0) },
    ]);
    expect(failed).toBeInstanceOf(ChainReadError);
    expect(fine).toMatchObject({ holdings: { chainId: 4663 } });
  });
});

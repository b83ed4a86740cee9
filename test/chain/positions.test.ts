import { numberToHex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { proxyAddress } from '../../src/chain/plans/wallets.ts';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { type PositionWorld, startPositionWorld, walletOf } from './position-world.ts';
import { blockOf } from './scripted-node.ts';

let world: PositionWorld;
beforeEach(async () => {
  world = await startPositionWorld();
});
afterEach(async () => {
  expect(world.node.unknown).toEqual([]);
  await world.node.close();
});

/** `count` wallets with `each` positions. */
function populate(count: number, each: number): readonly Address[] {
  const wallets = Array.from({ length: count }, (_, i) => walletOf(i));
  for (const [i, wallet] of wallets.entries()) {
    for (let n = 0; n < each; n += 1) {
      const market = world.chain.markets[(i + n) % world.chain.markets.length];
      world.open(wallet, { marketId: market?.id as MarketId, collateral: BigInt(i * each + n + 1) });
    }
  }
  return wallets;
}

describe('readHoldings', () => {
  test('default', async () => {
    const [wallet] = populate(1, 1) as [Address];
    world.open(wallet, { open: false, deposited: 7n });
    const { block, wallets } = await world.reader.readHoldings([wallet]);
    expect(block).toEqual({ number: 100n, timestamp: 1_700_000_000n });
    expect(wallets.failures.size).toBe(0);
    expect(wallets.values.get(wallet)).toMatchObject({
      chainId: 1,
      wallet,
      block,
      positions: [
        { id: 0, open: true, depositedAssets: 100n, returnedAssets: 0n, collateral: 1n, borrowShares: 700n },
        // Nothing is asked about a closed position: it holds nothing.
        { id: 1, open: false, depositedAssets: 7n, collateral: 0n, borrowShares: 0n },
      ],
      stocks: [],
    });
  });

  test('behavior: 1,000 wallets with 5,000 positions take at most 5 requests, all at one block', async () => {
    const wallets = populate(1_000, 5);
    const { wallets: read } = await world.reader.readHoldings(wallets);
    // Two of the last round where its calls take a while to write: the markets do not wait for them.
    expect(world.requests).toBeLessThanOrEqual(5);
    expect(world.node.requests).toBe(world.requests);
    expect([...world.node.blocks]).toEqual([numberToHex(100n)]);
    const positions = [...read.values.values()].flatMap((holdings) => holdings.positions);
    expect(positions.map(({ collateral }) => collateral)).toEqual(
      Array.from({ length: 5_000 }, (_, i) => BigInt(i + 1)),
    );
  });

  test.each([0, 1, 10, 100])('behavior: %i wallets take as many requests as one', async (count) => {
    await world.reader.readHoldings(populate(count, 2));
    // Three, and a fourth when the timer that closes a batch fires between two pages of work on a busy machine.
    expect(world.requests).toBeLessThanOrEqual(4);
  });

  test('behavior: a known block saves one request', async () => {
    await world.reader.readHoldings(populate(3, 2), { block: blockOf({ ...world.node, blockNumber: 90n }) });
    expect(world.requests).toBe(2);
    expect([...world.node.blocks]).toEqual([numberToHex(90n)]);
  });

  test.each([
    ['reverts', 'revert', 'reverted'],
    ['cannot be read', '0x1234', 'malformed'],
  ] as const)('behavior: only the wallet whose array %s fails', async (_what, answer, reason) => {
    const wallets = populate(50, 2);
    world.poison(wallets[7] as Address, answer);
    const { values, failures } = (await world.reader.readHoldings(wallets)).wallets;
    expect([...failures]).toEqual([[wallets[7], reason]]);
    expect(values.size).toBe(49);
  });

  test('behavior: isolates a wallet that breaks its whole multicall with few more requests', async () => {
    const wallets = populate(300, 2);
    const bad = (wallets[150] as Address).slice(2).toLowerCase();
    world.node.refuses = (data) => data.includes(bad);
    const { values, failures } = (await world.reader.readHoldings(wallets)).wallets;
    expect([...failures]).toEqual([[wallets[150], 'reverted']]);
    expect(values.size).toBe(299);
    // How many turns it takes to encode a round, and with it its requests, depends on the machine. No wallet is asked alone.
    expect(world.requests).toBeGreaterThanOrEqual(4);
    expect(world.requests).toBeLessThan(10);
  });

  test('behavior: also isolates it in the first multicall, with the time of the block', async () => {
    const wallets = populate(20, 1);
    const bad = (wallets[0] as Address).slice(2).toLowerCase();
    world.node.refuses = (data) => data.includes(bad);
    const { values, failures } = (await world.reader.readHoldings(wallets)).wallets;
    expect([...failures]).toEqual([[wallets[0], 'reverted']]);
    expect(values.size).toBe(19);
  });

  test('behavior: returns non-empty stock legs with the positions', async () => {
    const equity = await startPositionWorld(4663);
    try {
      const [first, second] = equity.chain.equityVaults;
      if (!first || !second) throw new Error('two vaults expected');
      equity.hold(walletOf(1), second.stockMarket.id, { collateral: 5n, borrowShares: 3n });
      const { values } = (await equity.reader.readHoldings([walletOf(1), walletOf(2)])).wallets;
      expect(values.get(walletOf(1))?.stocks).toEqual([
        { marketId: second.stockMarket.id, collateral: 5n, borrowShares: 3n },
      ]);
      expect(values.get(walletOf(2))?.stocks).toEqual([]);
      expect(equity.requests).toBe(3);
      expect(equity.node.unknown).toEqual([]);
    } finally {
      await equity.node.close();
    }
  });

  test('behavior: reads manual mode and authorizations in the same requests; leaves out unanswered ones', async () => {
    const equity = await startPositionWorld(4663);
    try {
      for (const n of [1, 1, 2]) equity.open(walletOf(n));
      equity.authorized.add(walletOf(2));
      equity.manual.add(proxyAddress(equity.chain.contracts.flashLeverage, 3));
      const read = async () => {
        const { values } = (await equity.reader.readHoldings([walletOf(1), walletOf(2)])).wallets;
        return [walletOf(1), walletOf(2)].map((wallet) => {
          const holdings = values.get(wallet);
          return [holdings?.authorized, holdings?.positions.map(({ manualMode }) => manualMode)];
        });
      };
      expect(await read()).toEqual([
        [[], [false, true]],
        [[equity.chain.contracts.equityRouter], [false]],
      ]);
      expect(equity.requests).toBe(3);
      equity.silent = true;
      expect(await read()).toEqual([
        [undefined, [undefined, undefined]],
        [undefined, [undefined]],
      ]);
      const sums = await equity.reader.readHoldings([walletOf(1)], { positionsOnly: true });
      expect(sums.wallets.values.get(walletOf(1))?.authorized).toBeUndefined();
    } finally {
      await equity.node.close();
    }
  });

  test.each([
    ['server_error', { status: 503 }],
    ['rate_limited', { status: 429 }],
  ] as const)('error: ChainReadError %s', async (reason, broken) => {
    world.node.broken = broken;
    await expect(world.reader.readHoldings([walletOf(1)])).rejects.toMatchObject({ reason });
    await expect(world.reader.readHoldings([walletOf(1)])).rejects.toBeInstanceOf(ChainReadError);
  });
});

describe('readProxyHead, readProxyOwners', () => {
  test('default: the implementation and one proxy per position', async () => {
    populate(2, 2);
    const head = await world.reader.readProxyHead();
    expect(head).toEqual({
      block: blockOf(world.node),
      proxyCount: 5,
      finalCount: 1_000_000,
      genesisHash: world.genesisHash,
    });
    expect(world.requests).toBe(2);
    const { owners, failures } = await world.reader.readProxyOwners([1, 2, 3, 4, 5], head.block);
    expect([...owners]).toEqual([
      [1, null],
      [2, walletOf(0)],
      [3, walletOf(0)],
      [4, walletOf(1)],
      [5, walletOf(1)],
    ]);
    expect(failures.size).toBe(0);
    expect(world.requests).toBe(3);
  });

  test('behavior: a node without the first block still answers', async () => {
    world.node.methods.set('eth_getBlockByNumber', () => null);
    expect(await world.reader.readProxyHead()).toMatchObject({ genesisHash: null, proxyCount: 1 });
  });

  test('behavior: 5,000 owners are one request', async () => {
    populate(1_000, 5);
    const nonces = Array.from({ length: 5_001 }, (_, i) => i + 1);
    const { owners } = await world.reader.readProxyOwners(nonces, blockOf(world.node));
    expect([owners.size, world.requests]).toEqual([5_001, 1]);
  });
});

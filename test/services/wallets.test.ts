import { keccak256 } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Database } from '../../src/database/client.ts';
import { createProxyRepository, type ProxyRepository } from '../../src/database/proxies.ts';
import { readAllPositions } from '../../src/services/positions.ts';
import { createWalletDirectory, type WalletDirectory } from '../../src/services/wallets.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { catalog, type PositionWorld, startPositionWorld, walletOf } from '../chain/position-world.ts';
import { blockOf } from '../chain/scripted-node.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';

let database: MigratedDatabase;
let db: Database;
beforeAll(async () => {
  database = await openMigratedDatabase();
  db = database.db;
});
afterAll(() => database.close());

let world: PositionWorld;
let logger: ReturnType<typeof rememberingLogger>;
let directory: WalletDirectory;
const directoryOver = (proxies: ProxyRepository): WalletDirectory =>
  createWalletDirectory({ catalog, readers: new Map([[1, world.reader]]), proxies, logger });
beforeEach(async () => {
  world = await startPositionWorld();
  logger = rememberingLogger();
  directory = directoryOver(createProxyRepository(db));
  database.statements.length = 0;
});
afterEach(async () => {
  expect(world.node.unknown).toEqual([]);
  await world.node.close();
  await db.deleteFrom('position_proxies').execute();
});

/** Start counting anew, some blocks later. */
function settle(): void {
  world.node.blockNumber += 64n;
  world.ownerReads = 0;
  world.requests = 0;
}

describe('find', () => {
  test('default: every owner once, ordered by address, without the implementation', async () => {
    for (const n of [3, 1, 3, 2]) world.open(walletOf(n));
    const found = await directory.find(1);
    expect(found).toEqual({ wallets: [1, 2, 3].map(walletOf), block: blockOf(world.node), unreadable: 0 });
    expect(world.requests).toBe(3);
    expect(database.statements).toHaveLength(2);
  });

  test('behavior: reads only new nonces', async () => {
    for (let n = 0; n < 300; n += 1) world.open(walletOf(n % 40));
    await directory.find(1);
    settle();
    expect((await directory.find(1)).wallets).toHaveLength(40);
    expect([world.ownerReads, world.requests]).toEqual([0, 2]);
    world.open(walletOf(77));
    expect((await directory.find(1)).wallets).toContain(walletOf(77));
    expect(world.ownerReads).toBe(1);
    settle();
    // Another process starts with the state of this one.
    expect((await directoryOver(createProxyRepository(db)).find(1)).wallets).toHaveLength(41);
    expect(world.ownerReads).toBe(0);
  });

  test('behavior: reads an owner again until its proxy is final', async () => {
    world.finalCount = 1;
    world.open(walletOf(1));
    expect((await directory.find(1)).wallets).toEqual([walletOf(1)]);
    world.node.blockNumber += 1_000n;
    world.reorganize(2, walletOf(2));
    expect((await directory.find(1)).wallets).toEqual([walletOf(2)]);
    world.finalCount = 2;
    await directory.find(1);
    world.ownerReads = 0;
    await directory.find(1);
    expect(world.ownerReads).toBe(0);
  });

  test('behavior: a restarted chain inherits nothing', async () => {
    world.open(walletOf(1));
    await directory.find(1);
    settle();
    world.genesisHash = keccak256('0x02');
    world.reorganize(2, walletOf(9));
    expect((await directory.find(1)).wallets).toEqual([walletOf(9)]);
  });

  test('behavior: without the first block of the chain reads all owners each time and stores none', async () => {
    world.node.methods.set('eth_getBlockByNumber', () => null);
    world.open(walletOf(1));
    await directory.find(1);
    settle();
    expect((await directory.find(1)).wallets).toEqual([walletOf(1)]);
    expect([world.ownerReads, database.statements.length]).toEqual([2, 0]);
  });

  test('behavior: without the database reads everything from the chain, and logs it once', async () => {
    const gone = () => Promise.reject(new UpstreamUnavailableError('database', 'unreachable'));
    const alone = directoryOver({ read: gone, save: gone });
    world.open(walletOf(1));
    expect((await alone.find(1)).wallets).toEqual([walletOf(1)]);
    settle();
    expect((await alone.find(1)).wallets).toEqual([walletOf(1)]);
    expect(logger.messages.filter((message) => message.includes('proxy owners not stored'))).toHaveLength(1);
  });

  test('behavior: a remembered owner beyond the proxies of the chain does not count', async () => {
    world.open(walletOf(1));
    world.finalCount = 9;
    const stored = [{ nonce: 9, owner: walletOf(9), resolvedBlock: 1n }];
    const found = await directoryOver({ read: async () => stored, save: async () => {} }).find(1);
    expect(found.wallets).toEqual([walletOf(1)]);
  });

  test('error: UpstreamUnavailableError when owners are missing temporarily', async () => {
    for (let n = 0; n < 700; n += 1) world.open(walletOf(n));
    let multicalls = 0;
    world.node.refuses = () => {
      multicalls += 1;
      return multicalls > 1; // all but the first
    };
    await expect(directory.find(1)).rejects.toBeInstanceOf(UpstreamUnavailableError);
  });
});

describe('readAllPositions', () => {
  const readers = () => new Map([[1, world.reader]]);

  test('error: ChainReadError for a temporary failure of one wallet, which would be left out', async () => {
    for (const n of [1, 2]) world.open(walletOf(n));
    const readHoldings: typeof world.reader.readHoldings = async (...asked) => {
      const reading = await world.reader.readHoldings(...asked);
      const { values } = reading.wallets;
      const read = new Map([...values].filter(([wallet]) => wallet !== walletOf(2)));
      return { ...reading, wallets: { values: read, failures: new Map([[walletOf(2), 'timeout']]) } } as typeof reading;
    };
    const failing = new Map([[1, { ...world.reader, readHoldings }]]);
    const reading = readAllPositions({ directory, readers: failing }, 1, new AbortController().signal);
    await expect(reading).rejects.toBeInstanceOf(ChainReadError);
  });

  test('default: 1,000 wallets with 5,000 positions take 5 requests without stored data, at one block', async () => {
    for (let n = 0; n < 5_000; n += 1) world.open(walletOf(n % 1_000), { collateral: BigInt(n + 1) });
    const { signal } = new AbortController();
    const read = await readAllPositions({ directory, readers: readers() }, 1, signal);
    expect(world.requests).toBe(5);
    expect([...world.node.blocks]).toEqual(['0x64']);
    expect(read).toMatchObject({ asOfMs: 1_700_000_000_000, unreadable: 0 });
    expect(read.positions).toHaveLength(5_000);
    expect(new Set(read.positions.map(({ wallet }) => wallet)).size).toBe(1_000);
    const sum = read.positions.reduce((total, { collateral }) => total + collateral, 0n);
    expect(sum).toBe((5_000n * 5_001n) / 2n);
    settle();
    await readAllPositions({ directory, readers: readers() }, 1, signal);
    expect(world.requests).toBe(4);
  });

  test('behavior: counts a reverting wallet without affecting others', async () => {
    for (const n of [1, 2, 3]) world.open(walletOf(n));
    world.poison(walletOf(2), 'revert');
    const read = await readAllPositions({ directory, readers: readers() }, 1, new AbortController().signal);
    expect(read.unreadable).toBe(1);
    expect(read.positions.map(({ wallet }) => wallet)).toEqual([walletOf(1), walletOf(3)]);
  });

  test('error: ChainReadError when the chain does not answer', async () => {
    world.node.broken = { status: 503 };
    const reading = readAllPositions({ directory, readers: readers() }, 1, new AbortController().signal);
    await expect(reading).rejects.toBeInstanceOf(ChainReadError);
  });
});

import type { Hex } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Artifacts, artifactOf, compileContracts } from '../../devnet/chain/compile.ts';
import { feedsOf, oracleSeed } from '../../devnet/seed/oracles.ts';
import { aggregatorAbi } from '../../src/abi/feeds.ts';
import type { Market } from '../../src/catalog/index.ts';
import { createChainReader, type LendingReading } from '../../src/chain/reader.ts';
import { fixedNode } from '../chain/fixed-node.ts';
import { useWorld } from './world.ts';

/** Later than any block: these chains are moved ahead by days. */
const LATE = { now: () => Number.MAX_SAFE_INTEGER };

let artifacts: Artifacts;
beforeAll(async () => {
  artifacts = await compileContracts();
});

describe.each([1, 4663])('feeds of readLendingState on chain %i', (chainId) => {
  const world = useWorld(chainId);
  const markets = () => world().row.markets;
  const read = (of: readonly Market[] = markets()): Promise<LendingReading> => {
    const { row, chain } = world();
    const nodes = fixedNode({ chainId, rpcUrl: chain.rpcUrl, clock: LATE });
    return createChainReader({ nodes, clock: LATE, chain: row }).readLendingState(of);
  };
  const dateOf = async (feed: Hex): Promise<bigint> => {
    const address = { address: feed, abi: aggregatorAbi, functionName: 'latestRoundData' } as const;
    return (await world().client.readContract(address))[3];
  };
  const dated = (): Market => {
    const found = markets().find((market) => oracleSeed(market).kind === 'feed');
    if (found === undefined) throw new Error('No oracle has a feed');
    return found;
  };

  test('default: reads the feeds of every oracle with their dates, and none for an oracle without feeds', async () => {
    const kinds = new Set<string>();
    await world().chain.increaseTime(5 * 86_400 + 7);
    const { oracle } = await read();
    for (const market of markets()) {
      const seed = oracleSeed(market);
      kinds.add(seed.kind);
      const { feeds } = oracle.values.get(market.oracle) ?? {};
      if (seed.kind === 'opaque') expect(feeds).toBeUndefined();
      if (seed.kind === 'rate') expect(feeds).toEqual([]);
      if (seed.kind !== 'feed') continue;
      const { base, quote } = feedsOf(market);
      const behind = seed.quoteHeartbeatSec === undefined ? [base] : [base, quote];
      const dates = await Promise.all(behind.map(dateOf));
      expect(feeds).toEqual(behind.map((address, i) => ({ address, updatedAt: dates[i] })));
    }
    expect([...kinds].sort()).toEqual(['feed', 'opaque', 'rate']);
  });

  test('behavior: ignores a future, too early or absurd date; accepts two minutes ahead', async () => {
    const market = dated();
    const { chain, client } = world();
    const feedsAt = async (updatedAt: bigint) => {
      await chain.dateFeed(market, updatedAt);
      return (await read()).oracle.values.get(market.oracle)?.feeds?.map((feed) => feed.updatedAt);
    };
    const now = async () => (await client.getBlock()).timestamp;
    for (const absurd of [0n, 1n, 2n ** 96n - 1n, 2n ** 96n, 2n ** 255n, 2n ** 256n - 1n]) {
      expect((await feedsAt(absurd))?.[0]).toBeUndefined();
    }
    const soon = (await now()) + 100n;
    expect((await feedsAt(soon))?.[0]).toBe(soon);
    expect((await feedsAt((await now()) + 400n))?.[0]).toBeUndefined();
  });

  test.each(['RevertingOracle', 'BurningOracle', 'FloodingOracle', 'FloodingRevertOracle', 'ShortOracle', ''])(
    'behavior: only an oracle or a feed that is a %s fails',
    async (contract) => {
      const before = await read();
      const market = dated();
      const bytecode = contract === '' ? '0x' : artifactOf(artifacts, contract).deployedBytecode;
      for (const address of [feedsOf(market).base, market.oracle]) {
        const snapshot = await world().chain.snapshot();
        await world().client.setCode({ address, bytecode });
        const { oracle, lending } = await read();
        expect(lending.failures.size).toBe(0);
        const shared = markets().filter((other) => other.oracle !== market.oracle);
        for (const other of shared) {
          expect(oracle.values.get(other.oracle)?.feeds).toEqual(before.oracle.values.get(other.oracle)?.feeds);
        }
        expect(oracle.values.has(market.oracle)).toBe(false);
        await world().chain.revert(snapshot);
      }
    },
  );
});

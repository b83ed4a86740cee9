import type { Hex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Market } from '../../src/catalog/index.ts';
import { type ChainReader, createChainReader } from '../../src/chain/reader.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { fixedNode } from './fixed-node.ts';
import { chain, type LendingWorld, startLendingWorld } from './lending-world.ts';

/** Reads two markets a call. */
let reader: ChainReader;
let world: LendingWorld;
beforeEach(async () => {
  world = await startLendingWorld();
  const nodes = fixedNode({ rpcUrl: world.node.url });
  reader = createChainReader({ nodes, clock: systemClock, chain, marketsPerCall: 2 });
});
afterEach(async () => {
  expect(world.node.unknown).toEqual([]);
  await world.node.close();
});

const asksAbout = (market: Market | undefined) => (data: Hex) => data.includes(market?.id.slice(2) ?? '');
const idsOf = (all: readonly Market[]) => all.map(({ id }) => id);

describe('several calls of the lens', () => {
  test.each([0, 2, 4])('behavior: one that the node refuses fails its own markets alone: from %i', async (at) => {
    const all = world.markets(6);
    world.node.refuses = asksAbout(all[at]);
    const { block, lending, oracle } = await reader.readLendingState(all);
    expect([block.timestamp, world.node.requests]).toEqual([world.node.timestamp, 2]);
    const refused = all.slice(at, at + 2);
    expect([...lending.failures]).toEqual(refused.map(({ id }) => [id, 'server_error']));
    expect([...oracle.failures]).toEqual(refused.map((market) => [market.oracle, 'server_error']));
    expect([lending.values.size, oracle.values.size]).toEqual([4, 4]);
  });

  test('behavior: an oracle whose markets stand in a refused and an answered call has answered', async () => {
    const all = world.markets(4);
    const sharing = world.exists({ ...(all[3] as Market), oracle: (all[0] as Market).oracle });
    for (const refused of [all[0], sharing]) {
      world.node.refuses = asksAbout(refused);
      const { oracle } = await reader.readLendingState([...all.slice(0, 3), sharing]);
      expect(oracle.values.has(sharing.oracle)).toBe(true);
      expect(oracle.failures.has(sharing.oracle)).toBe(false);
    }
  });

  test.each([
    ['is cut short', (answer: Hex) => answer.slice(0, -2) as Hex],
    ['is empty', () => '0x' as Hex],
    ['has no digits', (answer: Hex) => answer.replaceAll('0', 'z') as Hex],
    ['is about fewer markets', (answer: Hex) => `${answer.slice(0, 193)}1${answer.slice(194, -320)}` as Hex],
  ])('behavior: one whose answer %s is malformed and fails its own markets alone', async (_what, alter) => {
    const all = world.markets(6);
    world.node.alters = (answer, asked) => (asksAbout(all[3])(asked) ? alter(answer) : answer);
    const { lending } = await reader.readLendingState(all);
    expect([...lending.failures]).toEqual(idsOf(all.slice(2, 4)).map((id) => [id, 'malformed']));
    expect(lending.values.size).toBe(4);
  });

  test('error: ChainReadError implausible when they tell different times, or one is of another chain', async () => {
    const all = world.markets(6);
    for (const at of [65, 129]) {
      world.node.alters = (answer, asked) =>
        asksAbout(all[4])(asked) ? (`${answer.slice(0, at)}f${answer.slice(at + 1)}` as Hex) : answer;
      await expect(reader.readLendingState(all)).rejects.toMatchObject({ reason: 'implausible' });
    }
  });

  test('error: ChainReadError when none is answered', async () => {
    world.node.refuses = () => true;
    await expect(reader.readLendingState(world.markets(6))).rejects.toMatchObject({ reason: 'server_error' });
    world.node.refuses = () => false;
    world.node.alters = () => '0x';
    await expect(reader.readLendingState(world.markets(6))).rejects.toMatchObject({ reason: 'malformed' });
  });
});

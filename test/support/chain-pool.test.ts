import { describe, expect, test } from 'vitest';
import type { LocalChains } from '../../devnet/chain/index.ts';
import { OWNER } from '../../devnet/seed/accounts.ts';
import { catalog } from '../devnet/world.ts';
import { startPooledChains } from './chain-pool.ts';

const CHAIN_ID = 4663;
/** A minute at which no other test begins. */
const STARTED_AT = Date.UTC(2026, 8, 2, 7, 31);

const start = () =>
  startPooledChains({
    chains: catalog.chains.filter(({ chainId }) => chainId === CHAIN_ID),
    mining: 'auto',
    clock: { now: () => STARTED_AT },
  });

/** Mine as a test file does that sets the chain back after each test. */
async function mineAndSetBack(chains: LocalChains, blocks: number): Promise<void> {
  const { snapshot, mine, revert } = chains.on(CHAIN_ID);
  const id = await snapshot();
  await mine(blocks);
  await revert(id);
}

describe('startPooledChains', () => {
  test('behavior: blocks that a file has set back count, and a chain with many of them is not handed over', async () => {
    const first = await start();
    const seeded = await first.on(CHAIN_ID).minedBlocks();
    await mineAndSetBack(first, 150);
    await first.stop();

    const second = await start();
    expect(second.rpcUrls).toEqual(first.rpcUrls);
    expect(await second.on(CHAIN_ID).minedBlocks()).toBe(seeded + 150n);
    await mineAndSetBack(second, 150);
    await second.stop();

    const third = await start();
    expect(await third.on(CHAIN_ID).minedBlocks()).toBe(seeded);
    await third.stop();
  });

  test('behavior: the states of the seeding stay readable behind the blocks of two files', async () => {
    const first = await start();
    await mineAndSetBack(first, 250);
    await first.stop();

    const second = await start();
    expect(second.rpcUrls).toEqual(first.rpcUrls);
    const { client, mine } = second.on(CHAIN_ID);
    await mine(400);
    expect(await client.getBalance({ address: OWNER, blockNumber: 1n })).toBeGreaterThan(0n);
    await second.stop();
  });
});

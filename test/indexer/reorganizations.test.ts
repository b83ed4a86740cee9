import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { mallory, useWorld } from '../contracts/world.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';
import { actions, clear, NOW_MS, newIndexer, ownActions, signal, stored } from './world.ts';

const world = useWorld(1);
let database: MigratedDatabase;
beforeAll(async () => {
  database = await openMigratedDatabase();
});
afterEach(() => clear(database.db));
afterAll(() => database.close());

/** The history as a process reads it that reads everything at once. */
async function readAnew() {
  await clear(database.db);
  await newIndexer(world(), database.db).run(signal);
  return stored(database.db);
}

describe('reorganizations', () => {
  test('behavior: after 20 replaced blocks the history is that of the new chain', async () => {
    const { open, supply, repay, borrow, sell } = actions(world());
    const own = ownActions(world(), mallory);
    await open();
    await own.supply(10n ** 20n);
    const before = await world().chain.snapshot();
    const read = () => newIndexer(world(), database.db).run(signal);
    await read();
    for (let i = 0; i < 7; i += 1) {
      await supply(10n);
      await own.supply(10n ** 18n);
      await read();
    }
    await world().chain.mine(6);
    await read();
    const head = await world().client.getBlockNumber();
    const replaced = await stored(database.db);
    await world().chain.revert(before);
    await repay(20n);
    await borrow(5n);
    await own.withdraw(10n ** 19n);
    await sell(25n);
    await world().chain.mine(Number(head - (await world().client.getBlockNumber())) + 2);
    const run = await read();
    expect(run.rewoundBlocks).toBeGreaterThanOrEqual(20);
    expect(run.correctedBlocks).toBe(0);
    const followed = await stored(database.db);
    expect(followed.events).not.toEqual(replaced.events);
    expect(followed).toEqual(await readAnew());
  });

  test('behavior: replaced blocks are no corrected ones, also where blocks before and behind the fork are read again', async () => {
    const { open, supply, repay } = actions(world());
    const read = () => newIndexer(world(), database.db).run(signal);
    await open();
    await supply(10n);
    for (const depth of [1, 3]) {
      const before = await world().chain.snapshot();
      for (let i = 0; i < depth; i += 1) await supply(10n);
      await read();
      const replaced = await stored(database.db);
      await world().chain.revert(before);
      for (let i = 0; i <= depth; i += 1) await repay(5n);
      const { rewoundBlocks, correctedBlocks } = await read();
      expect([rewoundBlocks >= depth, correctedBlocks]).toEqual([true, 0]);
      const followed = await stored(database.db);
      expect(followed.events).not.toEqual(replaced.events);
      await world().chain.mine(1);
      expect((await read()).correctedBlocks).toBe(0);
      expect((await stored(database.db)).events).toEqual(followed.events);
    }
  });

  test('behavior: without a budget for more it stands at the last common block, with the time of that', async () => {
    const { open, supply, repay } = actions(world());
    const read = (take = true) => {
      const indexer = newIndexer(world(), database.db, { take: async () => take });
      return indexer.run(signal).then((run) => ({ ...run, cursor: indexer.state()?.cursor }));
    };
    await open();
    const common = await read();
    const before = await world().chain.snapshot();
    await world().chain.increaseTime(12);
    await supply(10n);
    const replaced = await read();
    await world().chain.revert(before);
    await repay(5n);
    await world().chain.mine(Number((replaced.cursor?.toBlock ?? 0n) - (await world().client.getBlockNumber())) + 1);
    const { rewoundBlocks, cursor } = await read(false);
    expect(rewoundBlocks).toBeGreaterThan(0);
    const { toBlock, toMs } = common.cursor ?? {};
    expect([cursor?.toBlock, cursor?.toMs]).toEqual([toBlock, toMs]);
    expect(replaced.cursor?.toMs).toBeGreaterThan(Number(toMs));
  });

  test('behavior: a chain that became shorter is followed after ten minutes, because a node may be late', async () => {
    const { open, supply } = actions(world());
    await open();
    const before = await world().chain.snapshot();
    await supply(10n);
    let nowMs = NOW_MS;
    const indexer = newIndexer(world(), database.db, { nowMs: () => nowMs });
    await indexer.run(signal);
    const read = await stored(database.db);
    await world().chain.revert(before);
    await expect(indexer.run(signal)).rejects.toMatchObject({ reason: 'missing' });
    expect(await stored(database.db)).toEqual(read);
    nowMs += 600_000;
    // The only block that both have and that is known is the begin, so reading begins anew.
    await indexer.run(signal);
    expect(await stored(database.db)).toEqual(await readAnew());
  });
});

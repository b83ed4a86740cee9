import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { useWorld } from '../contracts/world.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';
import { createLife, loadBalancer } from './load-balancer.ts';
import { actions, clear, newIndexer, signal, stored } from './world.ts';

const world = useWorld(1);
let database: MigratedDatabase;
beforeAll(async () => {
  database = await openMigratedDatabase();
});
beforeEach(() => actions(world()).open());
afterEach(() => clear(database.db));
afterAll(() => database.close());

const lifeOf = (blocksPerSec: number) => createLife(world(), database, blocksPerSec);

test('behavior: with a block every 0.1 s and nodes up to 100 blocks behind no event is lost', async () => {
  const life = lifeOf(10);
  life.start(loadBalancer(world(), [0, 12, 24, 100], true));
  expect(await life.live()).toBe(0);
  await life.pass(40);
  expect(await life.run()).toBe(0);
  await life.expectEvery();
});

test('behavior: where the measured block time falls at once, no block is taken back', async () => {
  // The gap is the oldest of the blocks that are measured over, and one block later it is none of them.
  await world().chain.increaseTime(100_000);
  await world().chain.mine(999);
  const read = () => newIndexer(world(), database.db, { confirmationSec: 3_000, logRange: 10_000 }).run(signal);
  await read();
  const { range } = await stored(database.db);
  expect(BigInt(range.to_block)).toBe((await world().client.getBlockNumber()) - 30n);
  await world().chain.mine(1);
  expect(await read()).toMatchObject({ rewoundBlocks: 0 });
  expect((await stored(database.db)).range).toEqual(range);
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useWorld } from '../contracts/world.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';
import { createLife, loadBalancer } from './load-balancer.ts';
import { actions, clear, nodeFetch } from './world.ts';

const world = useWorld(1);
let database: MigratedDatabase;
beforeAll(async () => {
  database = await openMigratedDatabase();
});
beforeEach(() => actions(world()).open());
afterEach(() => clear(database.db));
afterAll(() => database.close());

const lifeOf = (blocksPerSec: number) => createLife(world(), database, blocksPerSec);

describe('a block every 0.1 s, and nodes that are up to 100 blocks behind', () => {
  test.each([
    ['silent', [12]],
    ['silent', [24]],
    ['silent', [100]],
    ['silent', [100, 0, 0]],
    ['with errors', [12]],
    ['with errors', [24]],
    ['with errors', [100]],
    ['with errors', [0, 12, 24, 100]],
  ])('behavior: no event is lost (%s: %j)', async (kind, lags) => {
    const life = lifeOf(10);
    life.start(loadBalancer(world(), lags, kind === 'silent'));
    expect(await life.live()).toBe(0);
    await life.pass(40);
    expect(await life.run()).toBe(0);
    await life.expectEvery();
  });

  test('behavior: events that were left out of the newest blocks are found with the next ones', async () => {
    const life = lifeOf(10);
    life.start(loadBalancer(world(), [100], true), 0);
    await life.live();
    expect(await life.supplied()).toBeLessThan(18);
    await life.pass(15);
    await life.run();
    await life.expectEvery();
  });
});

test('behavior: events that were left out for minutes are found when their blocks are read a second time', async () => {
  const life = lifeOf(1);
  life.start(loadBalancer(world(), [400], true));
  await life.live();
  let corrected = 0;
  for (let minutes = 0; minutes < 20; minutes += 1) {
    await life.pass(60);
    corrected += await life.run();
    if (minutes === 5) expect(await life.supplied()).toBe(0);
  }
  expect(corrected).toBeGreaterThanOrEqual(18);
  await life.expectEvery();
});

test('behavior: events that a node always leaves out are found by the second reading from another one', async () => {
  const life = lifeOf(1);
  const nothing = nodeFetch(({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined));
  life.start(nothing);
  await life.live();
  expect(await life.supplied()).toBe(0);
  life.start([nothing, fetch, fetch]);
  await life.pass(20 * 60);
  expect(await life.run()).toBeGreaterThanOrEqual(18);
  await life.expectEvery();
});

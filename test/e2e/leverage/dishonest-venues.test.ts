import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { dataOf, isBuilt, routerIn } from '../../support/venue-flows.ts';
import { type DishonestWorld, ETHEREUM, LIES, ROBINHOOD, startDishonestWorld } from './dishonest-venues.ts';

/*
 * One falsification of every swap of every path, executed. All falsifications of all swaps are in the sweep of adversarial
 * venues, and their whole product is in the sweep of the venue matrix.
 */

let world: DishonestWorld;
beforeAll(async () => {
  world = await startDishonestWorld();
});
afterAll(() => world?.stop());
afterEach(() => world.venues.clear());

const lieOf = (i: number) => LIES[i % LIES.length] as (typeof LIES)[number];

test.each(ROBINHOOD.map((name, i) => [name, lieOf(i)] as const))(
  'behavior: %s at the only venue is built within its worst case, or refused for its own reason ($1.name)',
  async (name, lie) => {
    await world.expectSafe(world.flowOf('robinhood', name), lie, ['kyberswap']);
  },
);

test.each(ETHEREUM.slice(-2))('behavior: %s goes through the honest venue of two', async (name) => {
  const flow = world.flowOf('ethereum', name);
  for (const swap of flow.swaps) world.venues.lie('kyberswap', { kind: 'outputElsewhere' }, swap);
  const answer = await flow.ask();
  expect(isBuilt(answer), JSON.stringify(answer)).toBe(true);
  expect(dataOf(answer)).not.toContain(routerIn('AggregatorOne'));
  expect(await flow.execute(answer)).toBe(true);
});

test('behavior: the number in a refusal passes', async () => {
  const flow = world.flowOf('robinhood', 'close');
  world.venues.lie('kyberswap', { kind: 'low', ppm: 25_000n });
  const { limits } = (await flow.ask()) as { limits: readonly { name: string; value: string }[] };
  const passes = limits.find(({ name }) => name === 'maxSwapLossPct')?.value;
  expect(isBuilt(await flow.ask({ maxSwapLossPct: passes }))).toBe(true);
});

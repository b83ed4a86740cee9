import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { initOf, rowsOf } from '../../bench/partner-rows.ts';
import { startPartnerWorld } from '../../bench/partner-world.ts';

describe('startPartnerWorld', () => {
  let world: Awaited<ReturnType<typeof startPartnerWorld>>;
  beforeAll(async () => {
    world = await startPartnerWorld({ registered: 100 });
  });
  afterAll(() => world.stop());

  test('default: each row of the benchmark is answered', async () => {
    const rows = rowsOf(world.world);
    const answers = await Promise.all(
      rows.map(async ({ title, shot }) => {
        const response = await fetch(world.url + shot.path, initOf(shot));
        const text = await response.text();
        return [title, response.status, /"errors?":/.exec(text) && text.slice(0, 500)];
      }),
    );
    expect(answers).toEqual(rows.map(({ title }) => [title, 200, null]));
  });

  test('default: a build takes three sequential network steps', () => {
    expect([world.world.stepsOneSwap, world.world.stepsTwoSwaps]).toEqual([3, 3]);
  });
});

import { describe, expect, test } from 'vitest';
import { createFairQueue } from '../../src/limits/fair-queue.ts';

/** A queue whose event loop turns when it is told, and whose work takes the given time. */
function world() {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const queue = createFairQueue({ now: () => nowMs, later: (work) => void turns.push(work) });
  const started: string[] = [];
  return {
    started,
    get turns() {
      return turns.length;
    },
    work: (ms: number) => {
      nowMs += ms;
    },
    enter: (identity: string, name = identity) => void queue.enter(identity).then(() => started.push(name)),
    /** Run the next iteration of the event loop, with the work that waits for it. */
    turn: async () => {
      turns.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      return started.splice(0);
    },
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('createFairQueue', () => {
  test('default: starts at once until 5 ms of an iteration are used', async () => {
    const { enter, work, started, turn } = world();
    enter('a');
    work(4.9);
    enter('b');
    work(0.1);
    enter('c');
    await settled();
    expect(started.splice(0)).toEqual(['a', 'b']);
    expect(await turn()).toEqual(['c']);
  });

  test('behavior: the time of an iteration begins with its first work, and anew in the next one', async () => {
    const { enter, work, started, turn } = world();
    work(100);
    enter('a');
    await turn();
    work(50);
    enter('b');
    work(4);
    enter('c');
    await settled();
    expect(started).toEqual(['b', 'c']);
  });

  test('behavior: no new client overtakes waiting ones, even with time left', async () => {
    const { enter, work, started, turn } = world();
    enter('a');
    work(5);
    enter('b');
    enter('c');
    await settled();
    started.splice(0);
    expect(await turn()).toEqual(['b']);
    enter('d');
    await settled();
    expect(started).toEqual([]);
    expect(await turn()).toEqual(['c']);
    expect(await turn()).toEqual(['d']);
  });

  test('behavior: clients take turns, however much one of them has sent', async () => {
    const { enter, work, started, turn } = world();
    enter('a', 'a0');
    work(5);
    for (const name of ['a1', 'a2', 'a3']) enter('a', name);
    for (const name of ['b1', 'b2']) enter('b', name);
    await settled();
    started.splice(0);
    const order: string[] = [];
    for (let i = 0; i < 5; i += 1) order.push(...(await turn()));
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  test('behavior: an idle queue asks for no further iteration', async () => {
    const queue = world();
    queue.enter('a');
    await queue.turn();
    expect(queue.turns).toBe(0);
  });
});

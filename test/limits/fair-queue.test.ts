import { describe, expect, test } from 'vitest';
import { type CountedClient, countedAddress } from '../../src/limits/clients.ts';
import { createFairQueue } from '../../src/limits/fair-queue.ts';

/** A queue whose event loop turns when it is told, and whose work takes the given time. */
function world() {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const queue = createFairQueue({ now: () => nowMs, later: (work) => void turns.push(work), maxWaiting: 100 });
  const started: string[] = [];
  return {
    started,
    get turns() {
      return turns.length;
    },
    work: (ms: number) => {
      nowMs += ms;
    },
    enter: (identity: string, name = identity, client: Partial<CountedClient> = {}, left?: AbortSignal) =>
      void queue
        .enter({ tier: 'anonymous', identity, ...client }, () => left)
        .then(
          () => started.push(name),
          (error: Error) => started.push(`${name}: ${error.name}`),
        ),
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

  test('behavior: of requests that arrive together, before any has worked, two start at once and the others one by one', async () => {
    const { enter, started, turn } = world();
    for (const name of ['a', 'b', 'c', 'd']) enter(name);
    await settled();
    expect(started.splice(0)).toEqual(['a', 'b']);
    expect([await turn(), await turn()]).toEqual([['c'], ['d']]);
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

  test('behavior: tiers take turns, however many clients without a key wait', async () => {
    const { enter, work, started, turn } = world();
    enter('first');
    work(5);
    for (let i = 0; i < 20; i += 1) enter(`stranger ${i}`);
    for (const name of ['p1', 'p2']) enter('partner', name, { tier: 'partner' });
    enter('ops', 'o1', { tier: 'ops' });
    await settled();
    started.splice(0);
    const order: string[] = [];
    for (let i = 0; i < 5; i += 1) order.push(...(await turn()));
    expect(order).toEqual(['stranger 0', 'p1', 'o1', 'stranger 1', 'p2']);
  });

  test('behavior: the clients of an IPv6 network of 56 bits have one turn together', async () => {
    const { enter, work, started, turn } = world();
    enter('first');
    work(5);
    for (const host of ['2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1', '2001:db8:2:1::1'])
      enter('', host, countedAddress(host));
    await settled();
    started.splice(0);
    const order: string[] = [];
    for (let i = 0; i < 4; i += 1) order.push(...(await turn()));
    expect(order).toEqual(['2001:db8:1:1::1', '2001:db8:2:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1']);
  });

  test('behavior: a request whose client has left is dropped, before and while it waits', async () => {
    const { enter, work, started, turn } = world();
    const gone = new AbortController();
    const early = new AbortController();
    early.abort();
    enter('early', 'early', {}, early.signal);
    enter('a');
    work(5);
    enter('b', 'b', {}, gone.signal);
    enter('c');
    gone.abort();
    await settled();
    expect(started.splice(0).sort()).toEqual(['a', 'b: CallerLeftError', 'early: CallerLeftError']);
    expect(await turn()).toEqual(['c']);
    expect(await turn()).toEqual([]);
  });

  test('error: RateLimited when the share of a tier is full; one that leaves frees its place', async () => {
    const { enter, work, started } = world();
    const gone = new AbortController();
    enter('first');
    work(5);
    enter('a', 'a', {}, gone.signal);
    for (let i = 1; i < 50; i += 1) enter(`a${i}`);
    enter('b');
    enter('key', 'key', { tier: 'partner' });
    gone.abort();
    enter('c');
    await settled();
    expect(started).toEqual(['first', 'b: RateLimitedError', 'a: CallerLeftError']);
  });

  test('behavior: an idle queue asks for no further iteration', async () => {
    const queue = world();
    queue.enter('a');
    await queue.turn();
    expect(queue.turns).toBe(0);
  });
});

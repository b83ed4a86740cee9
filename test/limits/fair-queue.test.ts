import { describe, expect, test } from 'vitest';
import { type CountedClient, countedAddress } from '../../src/limits/clients.ts';
import { createFairQueue } from '../../src/limits/fair-queue.ts';

/** A queue whose event loop turns when it is told, and whose work takes the given time. */
function world(onOverload?: (isOverloaded: boolean) => void) {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const later = (work: () => void) => void turns.push(work);
  const queue = createFairQueue({ now: () => nowMs, later, maxWaiting: 100, maxTurnWaitMs: 1_000, onOverload });
  const started: string[] = [];
  return {
    queue,
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

describe('more requests than can be answered in time', () => {
  const exchange = () => new AbortController().signal;

  /** A queue with `count` waiting requests of the client, each turn of which takes `turnMs`. */
  async function busy(
    count: number,
    turnMs: number,
    of = (_i: number) => 'heavy',
    onOverload?: (isOverloaded: boolean) => void,
  ) {
    const all = world(onOverload);
    for (let i = 0; i < count + 2; i += 1) all.enter(of(i), `w${i}`, {}, exchange());
    await settled();
    // The mean of the turns settles.
    for (let i = 0; i < 60; i += 1) {
      all.work(turnMs);
      await all.turn();
      all.enter(of(i), `again${i}`, {}, exchange());
      await settled();
    }
    all.started.splice(0);
    return all;
  }

  test('behavior: a new request is refused at once when the turns before its own take more than a second', async () => {
    const { enter, started } = await busy(20, 60, (i) => `client ${i % 20}`);
    enter('another', 'another', {}, exchange());
    await settled();
    expect(started).toEqual(['another: NotReadyError']);
  });

  test('behavior: with quick turns nobody is refused', async () => {
    const { enter, started } = await busy(20, 10, (i) => `client ${i % 20}`);
    enter('another', 'another', {}, exchange());
    await settled();
    expect(started).toEqual([]);
  });

  test('behavior: a client with many requests delays and loses its own only', async () => {
    const { enter, started, turn, work } = await busy(8, 150);
    enter('heavy', 'one more', {}, exchange());
    enter('light', 'light', {}, exchange());
    await settled();
    expect(started.splice(0)).toEqual(['one more: NotReadyError']);
    work(150);
    expect([...(await turn()), ...(await turn())]).toContain('light');
  });

  test('behavior: what has begun is finished', async () => {
    const all = world();
    const mine = exchange();
    all.enter('me', 'first', {}, mine);
    await settled();
    all.started.splice(0);
    for (let i = 0; i < 40; i += 1) all.enter(`client ${i}`, `w${i}`, {}, exchange());
    for (let i = 0; i < 30; i += 1) {
      all.work(500);
      await all.turn();
    }
    all.enter('me', 'second', {}, mine);
    all.enter('new', 'new', {}, exchange());
    await settled();
    expect(all.started).toContain('new: NotReadyError');
    expect(all.started).not.toContain('second: NotReadyError');
  });

  test('behavior: a request that a cache may answer goes on at once, with the refusal for the case that none does', async () => {
    const { queue } = await busy(20, 60, (i) => `client ${i % 20}`);
    const refusal = await queue.enterOrRefusal({ tier: 'anonymous', identity: 'another' }, exchange);
    expect(refusal?.message).toContain('more requests than it can answer');
  });

  test('behavior: one pause of a minute refuses nobody', async () => {
    const { enter, started, turn, work } = await busy(3, 10, (i) => `client ${i % 3}`);
    work(60_000);
    await turn();
    started.splice(0);
    enter('another', 'another', {}, exchange());
    await settled();
    expect(started).toEqual([]);
  });

  test('behavior: reports the first refusal, and the end of the queue', async () => {
    const reports: boolean[] = [];
    const { enter, turn, work } = await busy(
      3,
      5_000,
      (i) => `client ${i % 3}`,
      (isOverloaded) => reports.push(isOverloaded),
    );
    for (const name of ['x', 'y']) enter(name, name, {}, exchange());
    for (let i = 0; i < 80; i += 1) {
      work(5_000);
      await turn();
    }
    expect(reports).toEqual([true, false]);
  });

  test('behavior: after it the next request is answered, however slow the last turns were', async () => {
    const { enter, started, turn, work } = await busy(3, 5_000, (i) => `client ${i % 3}`);
    for (let i = 0; i < 80; i += 1) {
      work(5_000);
      await turn();
    }
    started.splice(0);
    enter('next', 'next', {}, exchange());
    await settled();
    expect(started).toEqual(['next']);
  });
});

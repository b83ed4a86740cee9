import { afterEach, describe, expect, test } from 'vitest';
import { createAnswerCache } from '../../src/http/answer-cache.ts';
import { createCachedRows } from '../../src/http/cached-rows.ts';
import { compress } from '../../src/http/compression.ts';
import { createFairQueue } from '../../src/limits/fair-queue.ts';
import type { RestRequest } from '../../src/rest/types.ts';
import { type Front, PARTNER_KEY, startTestGateway } from './test-gateway.ts';

let front: Front | undefined;
afterEach(() => front?.stop());

/** A queue in which everything but the first request waits until it is released. */
function heldQueue() {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const queue = createFairQueue({ now: () => nowMs, later: (work) => void turns.push(work), maxWaiting: 100 });
  let waiting = 0;
  let isHeld = true;
  const counted = <T>(entered: Promise<T>): Promise<T> => {
    waiting += 1;
    return entered.finally(() => {
      waiting -= 1;
    });
  };
  return {
    queue: {
      enter: (...args: Parameters<typeof queue.enter>) => counted(queue.enter(...args)),
      enterOrRefusal: (...args: Parameters<typeof queue.enter>) => counted(queue.enterOrRefusal(...args)),
    },
    get waiting() {
      return waiting;
    },
    /** Use the time of the iteration up. */
    hold: async () => {
      await queue.enter({ tier: 'ops', identity: 'first' });
      nowMs += 1_000;
    },
    /** Let everything start that still waits. */
    release() {
      const run = (): void => {
        for (const turn of turns.splice(0)) turn();
        if (isHeld) setImmediate(run);
      };
      run();
    },
    end() {
      isHeld = false;
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_strategies', arguments: {} } };
const open = { strategyId: `0x${'1'.repeat(64)}`, payToken: `0x${'1'.repeat(40)}`, amount: '1', leverage: 5 };

/** A request on each surface, and the points that it costs when it is dropped in the queue. */
const REQUESTS: readonly (readonly [name: string, path: string, init: RequestInit, key: boolean, points: number])[] = [
  ['a row', '/v1/tvl', {}, false, 1],
  ['a row that asks an upstream', '/v1/prices/chart?coinId=ethereum', {}, false, 1],
  ['a keyed row', '/v1/partner/alerts', {}, true, 1],
  ['a body of a keyed row', '/v1/partner/leverage/simulate', { method: 'POST', body: JSON.stringify(open) }, true, 1],
  ['GraphQL', '/graphql', { method: 'POST', body: JSON.stringify({ query: '{chains{chainId}}' }) }, false, 1],
  ['MCP', '/mcp', { method: 'POST', body: JSON.stringify(message) }, false, 1],
];

describe('a client that disconnects while its request waits for its turn', () => {
  test.each(REQUESTS)(
    'behavior: %s is dropped, at the price of a refused one',
    async (_name, path, init, key, points) => {
      const held = heldQueue();
      let asked = 0;
      const composed = () => {
        asked += 1;
        throw new Error('nobody waits for this');
      };
      front = await startTestGateway({ fairQueue: held.queue, services: { composed: composed as never } });
      const headers = { ...JSON_TYPE, accept: 'application/json, text/event-stream', ...(key ? PARTNER_KEY : {}) };
      const left = async () => {
        const { headers: answered } = await (front as Front).send('/v1/nowhere', { headers: key ? PARTNER_KEY : {} });
        return Number(/r=(\d+)/.exec(answered.get('ratelimit') ?? '')?.[1]);
      };
      const before = await left();
      await held.hold();
      const leaving = new AbortController();
      const sent = fetch(`${front.url}${path}`, { ...init, headers, signal: leaving.signal }).catch(() => 'left');
      await expect.poll(() => held.waiting).toBe(1);
      leaving.abort();
      expect(await sent).toBe('left');
      await expect.poll(() => held.waiting).toBe(0);
      held.release();
      expect(before - (await left()) - 1).toBe(points);
      held.end();
      expect(asked).toBe(0);
      expect(front.logs.take().filter((line) => line.startsWith('error'))).toEqual([]);
    },
  );
});

describe('an answer that several clients wait for', () => {
  const clock = { now: () => 0 };
  const rowsWith = () => {
    const held = heldQueue();
    let made = 0;
    const cache = createAnswerCache({ clock, compress, maxBytes: 1_000_000 });
    const rows = createCachedRows({ cache, clock });
    const ask = (left?: AbortController) =>
      rows
        .answer(
          { path: '/v1/tvl', query: '', headers: {}, left: left && (() => left.signal) } as RestRequest,
          async (gone) => {
            await held.queue.enter({ tier: 'anonymous', identity: 'a' }, gone);
            made += 1;
            const headers = { 'content-type': 'application/json' };
            return {
              response: { status: 200, headers, body: '{}' },
              validity: { untilMs: 1_000, isCurrent: () => true },
            };
          },
        )
        .then(
          ({ status }) => status,
          (error: Error) => error.name,
        );
    return { held, ask, made: () => made };
  };

  test('behavior: is made as long as one of them waits', async () => {
    const { held, ask, made } = rowsWith();
    await held.hold();
    const [first, second] = [new AbortController(), new AbortController()];
    const answers = [ask(first), ask(second), ask()];
    first.abort();
    second.abort();
    held.release();
    expect((await Promise.all(answers)).at(-1)).toBe(200);
    held.end();
    expect(made()).toBe(1);
  });

  test('behavior: is not made once all have left, and is made for one that comes later', async () => {
    const { held, ask, made } = rowsWith();
    await held.hold();
    const [first, second] = [new AbortController(), new AbortController()];
    const answers = [ask(first), ask(second)];
    first.abort();
    second.abort();
    expect(await Promise.all(answers)).toEqual(['CallerLeftError', 'CallerLeftError']);
    const later = ask();
    held.release();
    expect(await later).toBe(200);
    held.end();
    expect(made()).toBe(1);
  });
});

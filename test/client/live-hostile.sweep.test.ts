import { expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { failureOf } from '../support/execution.ts';

const stream = (...events: readonly object[]) =>
  new Response(events.map((event) => `event: next\ndata: ${JSON.stringify(event)}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });
const clientOf = (answer: () => Response) =>
  createClient({ baseUrl: 'http://service.test', wait: async () => {}, fetch: async () => answer() });

test.each([
  ['no chain', {}],
  ['a chain of null', { chain: null, version: 1 }],
  ['no version', { chain: { chainId: 1 } }],
])('error: InvalidAnswerError for a change of strategies with %s', async (_, strategyChanged) => {
  const { live } = clientOf(() => stream({ data: { strategyChanged } }));
  expect(await failureOf(live.strategies().next())).toMatchObject({ code: 'invalid_answer', reason: 'shape' });
});

test('behavior: a listener that fails, also an async one, does not end a stream', async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  try {
    const freshnessChanged = { chain: { chainId: 1 }, version: 1 };
    for (const onState of [
      () => Promise.reject(new Error('display')),
      () => {
        throw new Error('display');
      },
    ]) {
      const { live } = clientOf(() => stream({ data: { freshnessChanged } }));
      const changes = live.freshness({}, { onState });
      expect((await changes.next()).value).toEqual(freshnessChanged);
      expect((await changes.next()).value).toEqual(freshnessChanged);
      await changes.return(undefined);
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }
});

test('behavior: waits as long as the service asks, also for longer than its own pauses', async () => {
  const waits: number[] = [];
  const error = { code: 'rate_limited', message: 'later' };
  const client = createClient({
    baseUrl: 'http://service.test',
    wait: async (ms) => void waits.push(ms),
    fetch: async () =>
      new Response(JSON.stringify({ error }), {
        status: 429,
        headers: { 'content-type': 'application/json', 'retry-after': '3600' },
      }),
  });
  const changes = client.live.freshness({}, { maxFailures: 1 });
  expect(await failureOf(changes.next())).toMatchObject({ code: 'rate_limited' });
  expect(waits).toEqual([3_600_000]);
});

import { describe, expect, test } from 'vitest';
import { type ClientOptions, createClient } from '../../packages/client/src/index.ts';
import { createParser } from '../../packages/client/src/live/events.ts';

const EVENTS = { headers: { 'content-type': 'text/event-stream' } };
const change = (id: string) =>
  `id: ${id}\nevent: next\ndata: {"data":{"freshnessChanged":{"chain":{"chainId":1}}}}\n\n`;
const clientOf = (fetch: NonNullable<ClientOptions['fetch']>) =>
  createClient({ baseUrl: 'http://service.test', fetch, wait: async () => {} });

describe('a stream of a lying service', () => {
  test.each(['\u2713', 'a\u0000b', 'a b', 'x'.repeat(1_025)])(
    'behavior: an id that no header carries (%j) is not sent when the stream is opened again',
    async (id) => {
      const sent: Headers[] = [];
      const client = clientOf(async (_, { headers }) => {
        sent.push(new Headers(headers));
        return new Response(change(sent.length === 1 ? id : 'a'), EVENTS);
      });
      const changes = client.live.freshness({}, { maxFailures: 3 });
      for (let i = 0; i < 3; i += 1) expect((await changes.next()).done).toBe(false);
      await changes.return(undefined);
      expect(sent.map((headers) => headers.get('last-event-id'))).toEqual([null, null, 'a']);
    },
  );

  test('behavior: pauses grow while the service ends each stream after one event', async () => {
    const pauses: number[] = [];
    const client = createClient({
      baseUrl: 'http://service.test',
      fetch: async () => new Response(change('a'), EVENTS),
      wait: async (ms) => {
        pauses.push(ms);
      },
    });
    const changes = client.live.freshness();
    for (let i = 0; i < 10; i += 1) await changes.next();
    await changes.return(undefined);
    expect(pauses).toHaveLength(9);
    // The jitter is half of a pause.
    expect(pauses[8]).toBeGreaterThanOrEqual(16_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
  });

  test('error: an answer without an end, in place of a stream', async () => {
    let pieces = 0;
    const endless = new ReadableStream({
      pull(to) {
        pieces += 1;
        if (pieces > 50) to.close();
        else to.enqueue(new Uint8Array(1_000_000).fill(32));
      },
    });
    const client = clientOf(async () => new Response(endless, { headers: { 'content-type': 'application/json' } }));
    await expect(client.live.freshness().next()).rejects.toMatchObject({ code: 'invalid_answer', reason: 'too_large' });
    expect(pieces).toBeLessThan(20);
  });
});

test('behavior: the rest of an answer that was refused is not received', async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const client = clientOf(async (_, { signal }) => {
    signals.push(signal);
    return new Response('moved', { status: 302, headers: { location: 'https://elsewhere.test/' } });
  });
  await expect(client.prices()).rejects.toMatchObject({ reason: 'redirect' });
  expect(signals[0]?.aborted).toBe(true);
});

describe('createParser', () => {
  const all = (chunks: readonly string[], maxLength = 100) => {
    const parse = createParser(maxLength);
    return chunks.flatMap((chunk) => parse(chunk));
  };
  const text = ': hello\r\n\r\nid: 1\r\nevent: next\rdata: a\ndata:b\n\ndata: c\r\r:\n\nevent: complete\n\ndata: cut';
  const events = [
    { type: 'next', data: 'a\nb', id: '1' },
    { type: 'message', data: 'c', id: '1' },
    { type: 'complete', data: '', id: '1' },
  ];

  test('default: events with any line end, cut into any chunks', () => {
    expect(all([text])).toEqual(events);
    for (const size of [1, 2, 3, 7]) expect(all(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [])).toEqual(events);
  });

  test('behavior: comments do not add up; an event does, in chunks and in lines', () => {
    expect(all(Array<string>(1_000).fill(': heartbeat\n'))).toEqual([]);
    for (const chunk of ['x', 'data: x\n']) {
      expect(() => all(Array<string>(200).fill(chunk))).toThrow('more than 100 characters');
    }
  });

  test('behavior: a line of a million small chunks is read once', () => {
    const parse = createParser(8_000_000);
    for (let i = 0; i < 1_000_000; i += 1) parse('x');
    expect(parse('\n\ndata: a\n\n')).toHaveLength(1);
  });
});

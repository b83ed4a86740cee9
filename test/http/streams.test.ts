import { afterEach, describe, expect, test } from 'vitest';
import type { ChangesPort } from '../../src/resolvers/strategy/changes.ts';
import { type Front, startFront } from './front.ts';

const SUBSCRIBE = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
  body: JSON.stringify({ query: 'subscription { freshnessChanged { __typename } }' }),
};

let front: Front | undefined;
afterEach(() => front?.stop());

describe('streams that break', () => {
  test('error: internal, without the cause, with the id of the request', async () => {
    async function* broken() {
      yield await Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:5432 as gateway'));
    }
    const changes = { open: () => broken() } as unknown as ChangesPort;
    front = await startFront({ services: { changes } });
    const { text } = await front.send('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'x-correlation-id': 'stream-that-breaks',
      },
      body: JSON.stringify({ query: 'subscription { freshnessChanged { __typename } }' }),
    });
    expect(text).toContain('"code":"internal"');
    expect(text).toContain('"correlationId":"stream-that-breaks"');
    expect(text).not.toContain('5432');
    expect(front.logs.take().join()).toContain('ECONNREFUSED');
  });
});

describe('streams that never yield', () => {
  test('behavior: they start, do not block others, and end with their reader', async () => {
    let ended = 0;
    const silent = {
      next: () => new Promise<never>(() => {}),
      return: () => {
        ended += 1;
      },
    };
    front = await startFront({ services: { changes: { open: () => silent } as unknown as ChangesPort } });
    const { url, send } = front;
    const ending = new AbortController();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => fetch(`${url}/graphql`, { ...SUBSCRIBE, signal: ending.signal })),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect((await send('/graphql', SUBSCRIBE)).status).toBe(429);
    expect((await send('/v1/prices')).status).toBe(200);
    ending.abort();
    await expect.poll(() => ended).toBe(10);
  });
});

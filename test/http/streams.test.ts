import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ChangesPort } from '../../src/resolvers/strategy/changes.ts';
import { createChanges } from '../../src/services/changes.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { type Front, startTestGateway, UNLIMITED } from './test-gateway.ts';

const SUBSCRIBE = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
  body: JSON.stringify({ query: 'subscription { freshnessChanged { __typename } }' }),
};

/** The most streams of one client. */
const AT_ONCE = 10;
let front: Front | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await front?.stop();
});

describe('streams that break', () => {
  test('error: internal, without the cause, with the id of the request', async () => {
    async function* broken() {
      yield await Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:5432 as gateway'));
    }
    const changes = { open: () => broken() } as unknown as ChangesPort;
    front = await startTestGateway({ services: { changes } });
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
    front = await startTestGateway({ services: { changes: { open: () => silent } as unknown as ChangesPort } });
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

describe('streams that are dropped', () => {
  test('behavior: two hundred of them end at once, and leave no feed, no timer and no reader of the snapshot', async () => {
    const open = new Set<string>();
    const timers = new Set<unknown>();
    let opened = 0;
    let readers = 0;
    const changes = createChanges({
      snapshot: {
        subscribe: () => {
          readers += 1;
          return () => {
            readers -= 1;
          };
        },
      },
      clock: systemClock,
      timers: {
        setTimeout: (callback, ms) => {
          const timer = systemTimers.setTimeout(() => {
            timers.delete(timer);
            callback();
          }, ms);
          timers.add(timer);
          return timer;
        },
        clearTimeout: (timer) => {
          timers.delete(timer);
          systemTimers.clearTimeout(timer);
        },
      },
      maxOpen: 100,
      onChange: ({ change }) => {
        if (change === 'opened') {
          opened += 1;
          open.add(String(opened));
        } else open.delete([...open][0] ?? '');
      },
    });
    front = await startTestGateway({ services: { changes }, env: UNLIMITED });
    const { url, send } = front;
    // Yoga pings every 300 ms in tests, and every 12 s otherwise: the end of a stream may not wait for a ping.
    vi.stubEnv('NODE_ENV', 'production');
    const drop = async (streams: number) => {
      for (let dropped = 0; dropped < streams; dropped += AT_ONCE) {
        const ending = new AbortController();
        const opening = Array.from({ length: AT_ONCE }, () =>
          fetch(`${url}/graphql`, { ...SUBSCRIBE, signal: ending.signal }),
        );
        expect(new Set((await Promise.all(opening)).map(({ status }) => status))).toEqual(new Set([200]));
        ending.abort();
        await expect.poll(() => open.size, { interval: 1 }).toBe(0);
      }
    };
    await drop(200);
    expect([opened, readers]).toEqual([200, 1]);
    expect((await send('/v1/prices')).status).toBe(200);
    changes.close();
    expect([timers.size, readers]).toEqual([0, 0]);
  });

  test('error: HEAD of a subscription is refused, and opens no stream', async () => {
    let opened = 0;
    const open = () => {
      opened += 1;
      throw new Error('opened');
    };
    front = await startTestGateway({ services: { changes: { open } as unknown as ChangesPort } });
    const query = encodeURIComponent('subscription { freshnessChanged { __typename } }');
    const { status, text } = await front.send(`/graphql?query=${query}`, {
      method: 'HEAD',
      headers: { accept: 'text/event-stream' },
    });
    expect([status, text, opened]).toEqual([405, '', 0]);
  });

  test('behavior: a range of a stream is not cut out of it', async () => {
    async function* once() {
      yield { chainId: 1, version: 1 };
    }
    front = await startTestGateway({ services: { changes: { open: () => once() } as unknown as ChangesPort } });
    const headers = { ...SUBSCRIBE.headers, range: 'bytes=0-9', 'if-range': '"x"' };
    const { status, headers: answered, text } = await front.send('/graphql', { ...SUBSCRIBE, headers });
    expect([status, answered.get('content-range'), answered.get('accept-ranges')]).toEqual([200, null, null]);
    expect(text).toContain('event: complete');
  });
});

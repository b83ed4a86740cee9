import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPS, PARTNER, startService, type TestService } from '../../support/service.ts';
import { subscribe } from '../../support/sse.ts';

const SUBSCRIPTION = 'subscription{freshnessChanged{__typename}}';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_ANONYMOUS: '600', MAX_SUBSCRIPTIONS: '20' } });
});
afterAll(() => service?.stop());
const subscribeWithKey = () => subscribe(service.url, SUBSCRIPTION, {}, PARTNER);

describe('limits of subscriptions', () => {
  test('error: rate_limited beyond the open streams of a client; a closed one makes room', async () => {
    const open = async () => {
      const ending = new AbortController();
      const response = await fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: SUBSCRIPTION }),
        signal: ending.signal,
      });
      return { response, close: () => ending.abort() };
    };
    const streams = await Promise.all(Array.from({ length: 10 }, open));
    expect(streams.map(({ response }) => response.status)).toEqual(Array.from({ length: 10 }, () => 200));
    const refused = await open();
    expect(refused.response.status).toBe(429);
    const [, event = ''] = /^data: (.+)$/m.exec(await refused.response.text()) ?? [];
    const { extensions } = JSON.parse(event).errors[0];
    expect(extensions).toMatchObject({ code: 'rate_limited', retryAfterSec: 60 });
    expect(extensions.details).toEqual({ scope: 'streams', policy: 'anonymous', limit: 10, windowSec: 60 });
    for (const { close } of streams) close();
    await expect
      .poll(async () => {
        const { response, close } = await open();
        close();
        return response.status;
      })
      .toBe(200);
  });

  test('error: rate_limited beyond the share of a key in the process, as an event and as JSON', async () => {
    const streams = await Promise.all([subscribeWithKey(), subscribeWithKey()]);
    for (const stream of streams) expect(await stream.next()).toMatchObject({ data: { freshnessChanged: {} } });
    const event = await (await subscribeWithKey()).next();
    const answer = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { ...PARTNER, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ query: SUBSCRIPTION }),
    });
    expect(answer.status).toBe(429);
    for (const { extensions } of [event.errors[0], (await answer.json()).errors[0]]) {
      expect(extensions).toMatchObject({ code: 'rate_limited', status: 429, retryable: true, retryAfterSec: 30 });
      expect(extensions.details).toEqual({ scope: 'streams', policy: 'partner', limit: 2, windowSec: 60 });
    }
    await Promise.all(streams.map((stream) => stream.close()));
  });

  test('behavior: HEAD opens no stream, and Range does not shorten one', async () => {
    const path = `${service.url}/graphql?query=${encodeURIComponent(SUBSCRIPTION)}`;
    const accept = { accept: 'text/event-stream' };
    const head = await fetch(path, { method: 'HEAD', headers: accept });
    expect([head.status, head.headers.get('allow'), await head.text()]).toEqual([405, 'GET, POST', '']);
    const stream = await subscribe(service.url, SUBSCRIPTION, {}, { ...OPS, range: 'bytes=0-9' });
    expect([stream.status, await stream.next()]).toMatchObject([200, { data: { freshnessChanged: {} } }]);
    await stream.close();
  });

  test('error: bad_request naming the media types for a subscription that accepts JSON only', async () => {
    const { status, body } = await service.graphql(SUBSCRIPTION, {}, { accept: 'application/json' });
    expect(status).toBe(406);
    expect(body.errors?.[0]?.extensions).toMatchObject({
      code: 'bad_request',
      details: { field: 'headers.accept', limit: { oneOf: expect.arrayContaining(['text/event-stream']) } },
    });
  });
});

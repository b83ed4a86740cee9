import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_ANONYMOUS: '600' } });
}, 120_000);
afterAll(() => service?.stop());

describe('limits of subscriptions', () => {
  test('error: rate_limited beyond the open streams of a client; a closed one makes room', async () => {
    const open = async () => {
      const ending = new AbortController();
      const response = await fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: 'subscription{freshnessChanged{__typename}}' }),
        signal: ending.signal,
      });
      return { response, close: () => ending.abort() };
    };
    const streams = await Promise.all(Array.from({ length: 10 }, open));
    expect(streams.map(({ response }) => response.status)).toEqual(Array.from({ length: 10 }, () => 200));
    const refused = await open();
    expect(refused.response.status).toBe(429);
    expect(await refused.response.text()).toContain('"scope":"streams"');
    for (const { close } of streams) close();
    await expect
      .poll(async () => {
        const { response, close } = await open();
        close();
        return response.status;
      })
      .toBe(200);
  });
});

import { afterEach, expect, it } from 'vitest';
import { createKyberswap } from '../../src/upstreams/kyberswap/client.ts';
import { swapRequest } from './cases/swaps.ts';
import { type FakeProvider, startFakeProvider } from './support/server.ts';
import { fixture, testDeps } from './support/world.ts';

let provider: FakeProvider;
afterEach(() => provider?.close());

it('behavior: retries an overloaded venue with jitter until the caller gives up', async () => {
  provider = await startFakeProvider();
  provider.respond({ 'GET /ethereum/api/v1/routes': fixture('kyberswap-route') });
  provider.fault({ status: 503 });
  const ended = new AbortController();
  const waits: number[] = [];
  const deps = {
    ...testDeps(provider.url),
    random: () => 0.5,
    sleep: async (ms: number, signal?: AbortSignal) => {
      waits.push(ms);
      if (waits.length === 3) ended.abort(new Error('the deadline has passed'));
      signal?.throwIfAborted();
    },
  };
  const quote = createKyberswap(deps).quotes.quote(swapRequest, { signal: ended.signal });
  await expect(quote).rejects.toThrow('the deadline has passed');
  expect(provider.requests).toHaveLength(3);
  expect(waits).toEqual([187.5, 375, 375]);
});

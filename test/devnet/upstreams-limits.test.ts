import { expect, it } from 'vitest';
import { createLimiter, type Verdict } from '../../devnet/upstreams/limits.ts';
import type { Provider, SimRequest } from '../../devnet/upstreams/types.ts';
import { readTold } from '../../src/upstreams/limit-headers.ts';

const START_MS = 1_795_176_000_000;

function world() {
  let nowMs = START_MS;
  const limiter = createLimiter({ now: () => nowMs });
  const take = (provider: Provider, headers: Record<string, string> = {}, body?: unknown): Verdict => {
    const request: SimRequest = {
      method: body === undefined ? 'GET' : 'POST',
      path: '/',
      query: new URLSearchParams(),
      headers,
      body,
    };
    return limiter.take(provider, request);
  };
  return {
    take,
    pass: (ms: number) => {
      nowMs += ms;
    },
    now: () => nowMs,
    /** Requests until the first refusal. */
    flood: (...args: Parameters<typeof take>) => {
      let permitted = 0;
      while (permitted < 20_000 && !take(...args).isRefused) permitted += 1;
      return permitted;
    },
  };
}

it.each<[string, Provider, Record<string, string>, number]>([
  ['with a client id', 'kyberswap', { 'x-client-id': 'spiral-gateway' }, 30],
  ['without a client id', 'kyberswap', {}, 10],
  ['of units', 'pendle', {}, 100],
  ['with a demo key', 'coingecko', { 'x-cg-demo-api-key': 'k' }, 100],
  ['without a key', 'coingecko', {}, 10],
  ['of an address', 'geckoterminal', {}, 30],
  ['without published limits', 'royco', {}, 20_000],
])('behavior: a burst %s of %s', (_name, provider, headers, permitted) => {
  expect(world().flood(provider, headers)).toBe(permitted);
});

it('behavior: a month of prices ends at 10,000 requests', () => {
  const { take, pass } = world();
  let permitted = 0;
  for (let minute = 0; minute < 200; minute += 1) {
    for (let i = 0; i < 60; i += 1) permitted += Number(!take('coingecko', { 'x-cg-demo-api-key': 'k' }).isRefused);
    pass(60_000);
  }
  expect(permitted).toBe(10_000);
});

it.each([
  [['kyberswap'], 6],
  [['kyberswap', 'okx'], 7],
  [undefined, 22],
])('behavior: a conversion by %j costs %s units, and the headers say what is left', (aggregators, units) => {
  const { take, now } = world();
  const { headers } = take('pendle', {}, { enableAggregator: true, aggregators });
  expect(readTold(new Headers(headers), now())).toEqual({
    spent: units,
    windows: [
      { window: undefined, limit: 100, remaining: 100 - units, resetMs: 60_000 },
      { window: 'week', limit: 200_000, remaining: 200_000 - units, resetMs: 604_800_000 },
    ],
  });
});

it('behavior: the headers of a window of ten seconds', () => {
  const { take, pass, now } = world();
  take('kyberswap', { 'x-client-id': 'a' });
  pass(4_000);
  const { headers } = take('kyberswap', { 'x-client-id': 'a' });
  expect(readTold(new Headers(headers), now())).toEqual({
    spent: undefined,
    windows: [{ window: '10s', limit: 30, remaining: 28, resetMs: 6_000 }],
  });
});

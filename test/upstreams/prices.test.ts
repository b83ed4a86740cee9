import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCoingecko } from '../../src/upstreams/coingecko/client.ts';
import { createDefillamaCoins } from '../../src/upstreams/defillama-coins/client.ts';
import { createGeckoterminal } from '../../src/upstreams/geckoterminal/client.ts';
import { mapDeepestPool } from '../../src/upstreams/geckoterminal/map.ts';
import { priceKey } from '../../src/upstreams/types.ts';
import { type FakeProvider, type SeenRequest, startFakeProvider } from './support/server.ts';
import {
  API_KEY,
  at,
  change,
  ethereum,
  fixture,
  type Json,
  must,
  NOW_MS,
  robinhood,
  type TestDeps,
  testDeps,
  token,
} from './support/world.ts';

let provider: FakeProvider;
let deps: TestDeps;
beforeEach(async () => {
  provider = await startFakeProvider();
  deps = testDeps(provider.url);
});
afterEach(async () => {
  await provider.close();
  expect(provider.unexpected).toEqual([]);
});

describe('usdPrices', () => {
  it('behavior: requests a shared id once and prices both tokens', async () => {
    provider.respond({ 'GET /simple/price': { 'usd-coin': { usd: 0.9999 } } });
    const twin = { ...token('USDC'), address: token('USDT').address };
    const { values } = await createCoingecko(deps).prices.usdPrices([token('USDC'), twin]);
    expect([...values.values()].map(({ usd }) => usd.toFixed())).toEqual(['0.9999', '0.9999']);
    expect(provider.requests.map(({ query }) => query)).toEqual([
      { vs_currencies: 'usd', include_last_updated_at: 'true', ids: 'usd-coin' },
    ]);
  });

  it('behavior: many ids take several requests, and a failing one affects only its tokens', async () => {
    const tokens = Array.from({ length: 130 }, (_, i) => ({
      ...token('USDC'),
      address: `0x${i.toString(16).padStart(40, '0')}` as const,
      coingeckoId: `coin-${String(i).padStart(3, '0')}`,
    }));
    provider.respond({
      'GET /simple/price': ({ query }: SeenRequest) =>
        Object.fromEntries((query.ids ?? '').split(',').map((id) => [id, { usd: 1 }])),
    });
    provider.fault({ status: 500 }, ({ query }) => query.ids?.startsWith('coin-060') === true);
    const { values, failures } = await createCoingecko(deps).prices.usdPrices(tokens);
    expect([values.size, failures.size]).toEqual([70, 60]);
    expect(new Set(failures.values())).toEqual(new Set(['server_error']));
  });

  it('behavior: sends nothing when no token has an id', async () => {
    const { failures } = await createCoingecko(deps).prices.usdPrices([token('ETH')]);
    expect([...failures.values()]).toEqual(['not_configured']);
    expect(provider.requests).toEqual([]);
  });

  it.each([
    ['https://api.coingecko.com/api/v3', 'x-cg-demo-api-key'],
    ['https://pro-api.coingecko.com/api/v3', 'x-cg-pro-api-key'],
  ])('behavior: the key for %s goes into %s', async (baseUrl, header) => {
    let sent: Headers | undefined;
    const recording: typeof fetch = async (_url, init) => {
      sent = new Headers(init?.headers);
      return Response.json({ 'usd-coin': { usd: 1 } });
    };
    await createCoingecko({ ...testDeps(baseUrl), fetch: recording }).prices.usdPrices([token('USDC')]);
    expect(sent?.get(header)).toBe(API_KEY);
  });
});

describe('time of a price', () => {
  const usdc = token('USDC');
  const SEEN_SEC = NOW_MS / 1_000 - 7_200;
  const AHEAD_SEC = NOW_MS / 1_000 + 86_400;

  it.each([
    ['two hours ago', SEEN_SEC, SEEN_SEC * 1_000],
    ['unknown', undefined, undefined],
    ['not readable', 'yesterday', undefined],
    ['seconds ahead', NOW_MS / 1_000 + 30, NOW_MS],
  ])('behavior: %s', async (_what, reported, expected) => {
    const time = reported === undefined ? {} : { last_updated_at: reported };
    provider.respond({ 'GET /simple/price': { 'usd-coin': { usd: 1, ...time } } });
    const { values, measuredMs } = await createCoingecko(deps).prices.usdPrices([usdc]);
    expect([values.size, measuredMs?.get(priceKey(usdc))]).toEqual([1, expected]);
    const stamp = reported === undefined ? {} : { timestamp: reported };
    const coins = { 'coingecko:usd-coin': { price: 1, confidence: 0.99, ...stamp } };
    provider.respond({ 'GET /prices/current/coingecko:usd-coin': { coins } });
    const second = await createDefillamaCoins(deps).usdPrices([usdc]);
    expect([second.values.size, second.measuredMs?.get(priceKey(usdc))]).toEqual([1, expected]);
  });

  it('error: implausible if it is a day ahead', async () => {
    provider.respond({ 'GET /simple/price': { 'usd-coin': { usd: 1, last_updated_at: AHEAD_SEC } } });
    const { values, failures } = await createCoingecko(deps).prices.usdPrices([usdc]);
    expect([values.size, failures.get(priceKey(usdc))]).toEqual([0, 'implausible']);
  });
});

describe('chart', () => {
  it('behavior: passes days and currency', async () => {
    provider.respond({ 'GET /coins/weth/market_chart': fixture('coingecko-chart') });
    await createCoingecko(deps).charts.chart('weth', 30, 'eur');
    expect(provider.requests[0]?.query).toEqual({ vs_currency: 'eur', days: '30' });
  });
});

describe('createGeckoterminal', () => {
  const weth = token('WETH').address;
  const pools = at(fixture('geckoterminal-pools'), ['data']) as Json[];

  it('behavior: equally deep pools: the lower address, in any order', () => {
    const even = pools.map((pool) => change(pool, ['attributes', 'reserve_in_usd'], '5'));
    for (const rows of [even, even.toReversed()]) {
      expect(mapDeepestPool('eth', weth, rows).pool?.address).toMatch(/^0x72331f/);
    }
  });

  it('behavior: drops and counts pools of other tokens', () => {
    expect(mapDeepestPool('eth', token('DAI').address, pools)).toEqual({ pool: null, dropped: 2 });
  });

  it('behavior: requests the catalog’s network for the side of the token', async () => {
    const pool = must(mapDeepestPool('eth', token('USDC').address, pools).pool);
    const path = `GET /networks/eth/pools/${pool.address}/ohlcv/minute`;
    provider.respond({ [path]: fixture('geckoterminal-ohlcv') });
    await createGeckoterminal(deps).candles(ethereum, pool, { timeframe: 'minute', aggregate: 15, limit: 7 });
    expect(provider.requests[0]?.query).toEqual({ aggregate: '15', limit: '7', currency: 'usd', token: 'quote' });
  });

  it('behavior: of more candles than were requested, the newest are answered', async () => {
    const pool = must(mapDeepestPool('eth', token('USDC').address, pools).pool);
    provider.respond({ [`GET /networks/eth/pools/${pool.address}/ohlcv/hour`]: fixture('geckoterminal-ohlcv') });
    const query = { timeframe: 'hour', aggregate: 1, limit: 2 } as const;
    const { candles } = await createGeckoterminal(deps).candles(ethereum, pool, query);
    expect(candles.map(({ t }) => t)).toEqual([1795168800, 1795172400]);
  });

  it('behavior: a chain without an index has no pool', async () => {
    const chain = { ...robinhood, providers: {} };
    expect(await createGeckoterminal(deps).deepestPool(chain, weth)).toBeNull();
  });
});

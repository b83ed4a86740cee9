import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY, must, NOW, startTestUpstreams, type TestUpstreams } from './upstreams-support.ts';

let up: TestUpstreams;
beforeAll(async () => {
  up = await startTestUpstreams();
});
afterAll(() => up.stop());

describe('prices', () => {
  test('default: CoinGecko prices, unknown coins left out', async () => {
    const { body } = await up.ask('coingecko', '/simple/price?vs_currencies=usd&ids=weth,usd-coin,unknown');
    expect(body).toEqual({ weth: { usd: 3200 }, 'usd-coin': { usd: 0.9999 } });
    expect((await up.ask('coingecko', '/simple/price?ids=weth')).status).toBe(422);
  });

  test('default: DefiLlama prices with confidence, one of them too low', async () => {
    const { body } = await up.ask(
      'defillama-coins',
      '/prices/current/coingecko:weth,coingecko:snusd,coingecko:unknown',
    );
    const { coins } = body as { coins: Record<string, { price: number; confidence: number }> };
    expect(Object.keys(coins)).toEqual(['coingecko:weth', 'coingecko:snusd']);
    expect(coins['coingecko:weth']).toMatchObject({ price: 3200, symbol: 'WETH', confidence: 0.99 });
    expect(coins['coingecko:snusd']?.confidence).toBeLessThan(0.7);
  });

  test.each([
    [1, 300_000],
    [30, 3_600_000],
    [180, DAY],
  ])('behavior: a chart of %i days ends with the present price', async (days, step) => {
    const { body } = await up.ask('coingecko', `/coins/weth/market_chart?vs_currency=usd&days=${days}`);
    const { prices, market_caps, total_volumes } = body as Record<string, [number, number][]>;
    const points = must(prices, 'prices');
    expect(points.at(-1)).toEqual([NOW, 3200]);
    expect(points[0]?.[0]).toBeLessThanOrEqual(NOW - days * DAY + step);
    expect((points[1]?.[0] ?? 0) - (points[0]?.[0] ?? 0)).toBe(step);
    expect([market_caps?.length, total_volumes?.length]).toEqual([points.length, points.length]);
  });

  test('error: a chart of an unknown coin, currency or number of days', async () => {
    const chart = async (path: string) => (await up.ask('coingecko', path)).status;
    expect(await chart('/coins/unknown/market_chart?vs_currency=usd&days=1')).toBe(404);
    expect(await chart('/coins/weth/market_chart?vs_currency=xyz&days=1')).toBe(422);
    expect(await chart('/coins/weth/market_chart?vs_currency=usd&days=-1')).toBe(422);
  });
});

describe('geckoterminal', () => {
  interface Pool {
    readonly attributes: { readonly address: string; readonly name: string; readonly reserve_in_usd: string };
    readonly relationships: Record<'base_token' | 'quote_token' | 'dex', { readonly data: { readonly id: string } }>;
  }
  const pools = async (symbol: string, network = 'eth', chainId = 1) =>
    up.ask('geckoterminal', `/networks/${network}/tokens/${up.token(symbol, chainId).address}/pools?page=1`);
  const poolsOf = async (symbol: string) => ((await pools(symbol)).body as { data: Pool[] }).data;
  const candles = async (pool: string, rest: string) =>
    up.ask('geckoterminal', `/networks/eth/pools/${pool}/ohlcv/${rest}`);

  test('default: pools with the token on either side', async () => {
    const id = `eth_${up.token('USDC').address.toLowerCase()}`;
    const asQuote = await poolsOf('USDC');
    expect(asQuote.length).toBeGreaterThan(1);
    expect(asQuote.every(({ relationships }) => relationships.quote_token.data.id === id)).toBe(true);
    const [wsteth] = await poolsOf('wstETH');
    expect(wsteth?.relationships.base_token.data.id).toBe(`eth_${up.token('wstETH').address.toLowerCase()}`);
    expect(Number(wsteth?.attributes.reserve_in_usd)).toBeGreaterThan(0);
  });

  test('behavior: 404 for a token without a pool, and for unknown networks and pools', async () => {
    expect((await pools('PT-sUSDe')).status).toBe(404);
    expect((await pools('sNUSD')).status).toBe(404);
    expect((await pools('spUSDG', 'robinhood', 4663)).status).toBe(404);
    expect((await pools('WETH', 'solana')).status).toBe(404);
    expect((await candles('0x1111111111111111111111111111111111111111', 'day')).status).toBe(404);
  });

  test.each([
    ['minute', 5, 300],
    ['hour', 4, 14_400],
    ['day', 1, 86_400],
  ])('default: candles of %s x %i, newest first', async (timeframe, aggregate, seconds) => {
    const [pool] = (await poolsOf('WBTC')).sort(
      (a, b) => Number(b.attributes.reserve_in_usd) - Number(a.attributes.reserve_in_usd),
    );
    const { body } = await candles(
      must(pool, 'pool').attributes.address,
      `${timeframe}?aggregate=${aggregate}&limit=50&currency=usd&token=base`,
    );
    const rows = (body as { data: { attributes: { ohlcv_list: number[][] } } }).data.attributes.ohlcv_list;
    expect(rows).toHaveLength(50);
    const times = rows.map(([t]) => t ?? 0);
    expect(times).toEqual(times.map((_, i) => (times[0] ?? 0) - i * seconds));
    expect((times[0] ?? 0) % seconds).toBe(0);
    for (const [, o = 0, h = 0, l = 0, c = 0, v = 0] of rows) {
      expect(h).toBeGreaterThanOrEqual(Math.max(o, c));
      expect(l).toBeLessThanOrEqual(Math.min(o, c));
      expect(v).toBeGreaterThan(0);
    }
    expect(rows[0]?.[4]).toBe(97_850);
  });

  test('error: unsupported parameters', async () => {
    const address = must((await poolsOf('WBTC'))[0], 'pool').attributes.address;
    const rests = ['week', 'minute?aggregate=2', 'day?limit=1001', 'day?currency=eur', 'day?token=other'];
    const statuses = await Promise.all(rests.map(async (rest) => (await candles(address, rest)).status));
    expect(statuses).toEqual([400, 400, 400, 400, 400]);
  });
});

describe('morpho', () => {
  const post = async (query: string) => up.ask('morpho', '', { query });
  const field = (id: string, i = 0) => `m${i}: marketById(marketId: "${id}", chainId: 1) { marketId }`;

  test('default: aliases', async () => {
    const [a, b] = up.chain(1).markets;
    const { body } = await post(`{ ${field(must(a, 'market').id, 0)} ${field(must(b, 'market').id, 1)} }`);
    expect(body).toEqual({ data: { m0: { marketId: a?.id }, m1: { marketId: b?.id } } });
  });

  test('behavior: one unknown market fails the answer', async () => {
    const { status, body } = await post(`{ ${field(`0x${'1'.repeat(64)}`)} }`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ data: null, errors: [{ path: ['m0'] }] });
  });

  test('error: too many aliases, unknown fields, no query', async () => {
    const { id } = must(up.chain(1).markets[0], 'market');
    const many = Array.from({ length: 31 }, (_, i) => field(id, i)).join(' ');
    expect((await post(`{ ${many} }`)).status).toBe(400);
    expect((await post('{ gone }')).status).toBe(400);
    expect((await up.ask('morpho', '', {})).status).toBe(400);
  });
});

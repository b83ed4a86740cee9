import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenSeed } from '../../devnet/seed/tokens.ts';
import { PROVIDERS } from '../../devnet/upstreams/index.ts';
import { DAY, must, NOW, startTestUpstreams, type TestUpstreams } from './upstreams-support.ts';

let up: TestUpstreams;
beforeAll(async () => {
  up = await startTestUpstreams();
});
afterAll(() => up.stop());

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const apyOf = (symbol: string, chainId = 1): number => Number(tokenSeed(chainId, symbol).apyPct);

interface DailyPoint {
  readonly timestamp: string;
  readonly apy: number;
}

describe('startUpstreams', () => {
  test('default: one origin, a base URL per provider', () => {
    expect(up.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(Object.keys(up.urls)).toEqual([...PROVIDERS]);
    expect(up.urls.pendle).toBe(`${up.origin}/pendle/core`);
    expect(up.urls.morpho).toBe(`${up.origin}/morpho/graphql`);
  });

  test('behavior: distinguishes a path of no provider from an unknown path of a provider', async () => {
    const nobody = await fetch(`${up.origin}/nobody`);
    expect(nobody.status).toBe(404);
    expect(Object.keys(((await nobody.json()) as { providers: object }).providers)).toEqual([...PROVIDERS]);
    expect((await up.ask('merkl', '/nothing')).body).toEqual({
      name: 'Error',
      message: 'Campaign not found',
      status: 404,
    });
  });

  test('error: names a taken port', async () => {
    const port = Number(new URL(up.origin).port);
    await expect(startTestUpstreams({ port })).rejects.toThrow(`port ${port} is taken`);
  });

  test('behavior: records requests without keys', async () => {
    up.clearRequests();
    await fetch(`${up.urls.stablewatch}/pools?api_key=secret`, { headers: { 'x-api-key': 'secret' } });
    await up.ask('kyberswap', '/ethereum/api/v1/route/build', { sender: '0x1' });
    expect(up.requestCounts()).toMatchObject({ stablewatch: 1, kyberswap: 1, pendle: 0 });
    const [first, second] = up.requests();
    expect(first).toMatchObject({
      provider: 'stablewatch',
      atMs: NOW,
      method: 'GET',
      path: '/pools',
      query: { api_key: '<present>' },
      status: 200,
    });
    expect(first?.headers).toContain('x-api-key');
    expect(JSON.stringify(up.requests())).not.toContain('secret');
    expect(second).toMatchObject({ method: 'POST', body: { sender: '0x1' }, status: 400 });
    expect(up.requests('stablewatch')).toHaveLength(1);
    up.clearRequests();
    expect(up.requests()).toEqual([]);
    expect(up.requestCounts().stablewatch).toBe(0);
  });
});

describe('pendle', () => {
  const markets = async (query: string) =>
    (
      (await up.ask('pendle', `/v2/markets/all?${query}&limit=100`)).body as {
        results: { pt: string; details: { impliedApy: number } }[];
      }
    ).results;
  const ptId = (symbol: string): string => `1-${up.token(symbol).address.toLowerCase()}`;

  test('default: active markets with the implied APY as a fraction', async () => {
    const active = await markets('isActive=true&chainId=1');
    const market = must(
      active.find(({ pt }) => pt === ptId('PT-sUSDe')),
      'market of the overlay',
    );
    expect(market.details.impliedApy).toBeCloseTo(apyOf('PT-sUSDe') / 100, 12);
    expect(active.map(({ pt }) => pt)).not.toContain(ptId('PT-stcUSD-23JUL2026'));
    expect(active.length).toBeGreaterThan(1);
  });

  test('behavior: lists matured ones only as inactive, and no unserved chain', async () => {
    const inactive = (await markets('isActive=false&chainId=1')).map(({ pt }) => pt);
    expect(inactive).toEqual(['PT-apxUSD-5NOV2026', 'PT-apyUSD-5NOV2026', 'PT-stcUSD-23JUL2026'].map(ptId));
    expect(await markets('isActive=true&chainId=4663')).toEqual([]);
  });

  test('behavior: lists them as active before their maturity', async () => {
    const earlier = await startTestUpstreams({ now: Date.UTC(2026, 6, 1) });
    const { body } = await earlier.ask('pendle', '/v2/markets/all?isActive=true&chainId=1&limit=100');
    expect((body as { results: unknown[] }).results).toHaveLength(6);
    await earlier.stop();
  });

  test('error: unsupported conversions', async () => {
    const convert = (change: object) =>
      up.ask('pendle', '/v3/sdk/1/convert', {
        receiver: up.token('USDC').address,
        slippage: 0.01,
        enableAggregator: true,
        inputs: [{ token: up.token('USDC').address, amount: '1000000' }],
        outputs: [up.token('PT-sUSDe').address],
        ...change,
      });
    const statuses = await Promise.all(
      [
        { outputs: [up.token('USDT').address] },
        { outputs: [up.token('PT-stcUSD-23JUL2026').address] },
        { outputs: ['0x1111111111111111111111111111111111111111'] },
        { inputs: [] },
        { slippage: 2 },
        { feeBps: 5 },
      ].map(async (change) => (await convert(change)).status),
    );
    expect(statuses).toEqual([400, 400, 404, 400, 400, 400]);
  });
});

describe('daily yield histories', () => {
  const shape = (points: readonly DailyPoint[], symbol: string, chainId = 1) => {
    expect(points.length).toBeGreaterThanOrEqual(120);
    expect(mean(points.slice(-7).map(({ apy }) => apy))).toBeCloseTo(apyOf(symbol, chainId), 6);
    expect(points.at(-1)?.timestamp.slice(0, 10)).toBe(new Date(NOW).toISOString().slice(0, 10));
    const days = points.map(({ timestamp }) => Math.floor(Date.parse(timestamp) / DAY));
    expect(days).toEqual(days.map((_, i) => (days[0] ?? 0) + i));
    expect(new Set(points.map(({ apy }) => apy)).size).toBeGreaterThan(30);
  };

  test('default: every aggregator pool of the catalog, the last point at the seed', async () => {
    for (const token of up.catalog.chains.flatMap(({ tokens }) => tokens)) {
      if (token.apySource !== 'aggregator') continue;
      const { body } = await up.ask('defillama-yields', `/chart/${token.defillamaId}`);
      const { data } = body as { data: DailyPoint[] };
      shape(data, token.symbol, token.chainId);
      expect(data.at(-1)?.apy).toBeCloseTo(apyOf(token.symbol, token.chainId), 8);
    }
  });

  test('behavior: an unknown pool is an empty chart', async () => {
    const { body } = await up.ask('defillama-yields', '/chart/00000000-0000-4000-8000-000000000000');
    expect(body).toEqual({ status: 'success', data: [] });
  });

  test('default: every pool of the stable index', async () => {
    const { body } = await up.ask('stablewatch', '/pools?api_key=x');
    const pools = (body as { data: { id: string; asset: string; metrics: { apy: { avg7d: number } } }[] }).data;
    for (const token of up.chain(1).tokens) {
      if (token.apySource !== 'stableindex') continue;
      const pool = must(
        pools.find(({ id }) => id === token.stableIndexId),
        `pool of ${token.symbol}`,
      );
      expect(pool.asset).toBe(token.symbol);
      expect(pool.metrics.apy.avg7d).toBeCloseTo(apyOf(token.symbol), 6);
      const history = await up.ask('stablewatch', `/history/${encodeURIComponent(pool.id)}?api_key=x`);
      shape((history.body as { data: { data: DailyPoint[] } }).data.data, token.symbol);
    }
    expect(pools.some(({ asset }) => asset === 'USDY')).toBe(true);
    expect((await up.ask('stablewatch', '/history/unknown?api_key=x')).status).toBe(404);
  });

  test('default: structured vault, in fractions, padded with zeros before it existed', async () => {
    const address = up.token('srRoyUSDC').address.toLowerCase();
    const { body: info } = await up.ask('royco', `/vault/info/1/${address}`);
    expect((info as { apy7d: number }).apy7d).toBeCloseTo(apyOf('srRoyUSDC') / 100, 8);
    const { body } = await up.ask('royco', `/chart/vault/apy/1/${address}/3m`);
    const { data } = body as { data: { blockTimestamp: number; value: number }[] };
    const firstLive = data.findIndex(({ value }) => value !== 0);
    expect(firstLive).toBeGreaterThan(0);
    expect(data.slice(firstLive).every(({ value }) => value > 0)).toBe(true);
    expect(data.length - firstLive).toBeGreaterThanOrEqual(93);
    expect(mean(data.slice(-7).map(({ value }) => value))).toBeCloseTo(apyOf('srRoyUSDC') / 100, 8);
    expect(data.at(-1)?.blockTimestamp).toBe(Math.floor(NOW / DAY) * 86_400);
    expect((await up.ask('royco', `/vault/info/1/${up.token('srRoyUSDC').address}`)).status).toBe(404);
  });

  test('behavior: the past does not change over days', async () => {
    const later = await startTestUpstreams();
    const path = `/chart/${later.token('wstETH').defillamaId}`;
    const points = async () => ((await later.ask('defillama-yields', path)).body as { data: DailyPoint[] }).data;
    const before = await points();
    later.pass(3 * DAY);
    const after = await points();
    expect(after.slice(0, -3).map(({ apy }) => apy)).toEqual(before.slice(3).map(({ apy }) => apy));
    expect(mean(after.slice(-7).map(({ apy }) => apy))).toBeCloseTo(apyOf('wstETH'), 6);
    await later.stop();
  });
});

describe('merkl', () => {
  interface Row {
    readonly id: string;
    readonly type: string;
    readonly apr: number;
    readonly startTimestamp: number;
    readonly endTimestamp: number;
    readonly opportunityId: string;
    readonly params: { readonly market: string };
    readonly rewardToken: { readonly symbol: string };
  }
  const page = async (query: string) => (await up.ask('merkl', `/campaigns?${query}`)).body as Row[];
  const market = (collateral: string, loan: string, chainId: number) =>
    must(
      up.chain(chainId).markets.find((m) => m.collateral.symbol === collateral && m.loan.symbol === loan),
      `${collateral}/${loan}`,
    ).id;

  test('default: live borrow campaigns over two pages, curated markets on both', async () => {
    const query = (n: number) => `type=MORPHOBORROW&chainId=1&items=100&page=${n}&status=LIVE`;
    const [first, second, third] = await Promise.all([page(query(0)), page(query(1)), page(query(2))]);
    expect(first).toHaveLength(100);
    expect(second.length).toBeGreaterThan(0);
    expect(third).toEqual([]);
    const curated = new Set<string>(up.chain(1).markets.map(({ id }) => id));
    expect([first, second].map((rows) => rows.some(({ params }) => curated.has(params.market)))).toEqual([true, true]);
    const all = [...first, ...second];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.every((row) => row.endTimestamp * 1000 > NOW && row.startTimestamp * 1000 <= NOW)).toBe(true);
    const syrup = all.filter(({ params }) => params.market === market('syrupUSDC', 'PYUSD', 1));
    expect(syrup.map(({ rewardToken, apr }) => [rewardToken.symbol, apr])).toEqual([
      ['PYUSD', 1.25],
      ['SYRUP', 0.4],
    ]);
  });

  test('default: the collateral campaign that is the whole yield of USDe', async () => {
    const rows = await page('type=MORPHOCOLLATERAL&chainId=4663&items=100&page=0&status=LIVE');
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      type: 'MORPHOCOLLATERAL',
      apr: 8.2,
      params: { market: market('USDe', 'USDG', 4663) },
    });
    expect(tokenSeed(4663, 'USDe').apyPct).toBeUndefined();
  });

  test('behavior: an ended campaign is PAST, and live ones end over time', async () => {
    const past = await page('type=MORPHOBORROW&chainId=1&items=100&page=0&status=PAST');
    expect(past.map(({ params }) => params.market)).toEqual([
      market('syrupUSDC', 'PYUSD', 1),
      market('wsrUSD', 'USDC', 1),
    ]);
    const later = await startTestUpstreams();
    later.pass(100 * DAY);
    const { body } = await later.ask('merkl', '/campaigns?chainId=4663&items=100&page=0&status=LIVE');
    expect(body).toEqual([]);
    await later.stop();
  });

  test('default: APR over time is a step function that ends with the present one', async () => {
    const [campaign] = await page('type=MORPHOBORROW&chainId=4663&status=LIVE');
    const { body } = await up.ask('merkl', `/campaigns/${campaign?.id}/metrics`);
    const { aprRecords } = body as { aprRecords: { timestamp: number; apr: number }[] };
    expect(aprRecords.length).toBeGreaterThan(3);
    expect(aprRecords[0]?.timestamp).toBe(campaign?.startTimestamp);
    expect(aprRecords.at(-1)?.apr).toBe(campaign?.apr);
    expect((await up.ask('merkl', '/campaigns/1/metrics')).status).toBe(404);
  });

  test('error: a page that is too large', async () => {
    expect((await up.ask('merkl', '/campaigns?items=101')).status).toBe(422);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { corrupt } from '../../devnet/upstreams/corrupt.ts';
import { FAULT_KINDS, type Fault, PROVIDERS, type Provider } from '../../devnet/upstreams/index.ts';
import { providers } from '../../devnet/upstreams/providers/index.ts';
import { NOW, startTestUpstreams, type TestUpstreams } from './upstreams-support.ts';

const CAMPAIGNS = '/campaigns?type=MORPHOBORROW&chainId=1&items=9&status=LIVE';
const slept: number[] = [];
let up: TestUpstreams;

beforeAll(async () => {
  up = await startTestUpstreams({
    sleep: async (ms) => {
      slept.push(ms);
    },
  });
});
afterEach(() => {
  up.faults.clear();
  up.clearRequests();
  slept.length = 0;
});
afterAll(() => up.stop());

const get = (path = CAMPAIGNS, provider: Provider = 'merkl', init: RequestInit = {}) =>
  fetch(`${up.urls[provider]}${path}`, init);
const good = async (path = CAMPAIGNS, provider: Provider = 'merkl') => (await get(path, provider)).json();
async function bad(fault: Fault, path = CAMPAIGNS, provider: Provider = 'merkl'): Promise<unknown> {
  up.faults.set(provider, fault);
  const response = await get(path, provider);
  expect(response.status).toBe(200);
  return response.json();
}

describe('faults of the connection', () => {
  test('latency: a delayed correct answer', async () => {
    const before = await good();
    expect(await bad({ kind: 'latency', ms: 1234 })).toEqual(before);
    expect(slept).toEqual([1234]);
  });

  test.each([400, 404, 422, 500, 503])('status: %i in the error form of the provider', async (status) => {
    up.faults.set('merkl', { kind: 'status', status });
    const response = await get();
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ name: 'Error', message: 'Simulated failure', status });
  });

  test('rateLimited: with seconds, with a date, without Retry-After', async () => {
    const retryAfter = async (fault: Fault) => {
      up.faults.set('merkl', fault);
      const response = await get();
      expect(response.status).toBe(429);
      await response.arrayBuffer();
      return response.headers.get('retry-after');
    };
    expect(await retryAfter({ kind: 'rateLimited', retryAfterSec: 17 })).toBe('17');
    const date = await retryAfter({ kind: 'rateLimited', retryAfterSec: 60, asDate: true });
    expect(Date.parse(date ?? '')).toBe(NOW + 60_000);
    expect(await retryAfter({ kind: 'rateLimited' })).toBeNull();
  });

  test('unauthorized: 401', async () => {
    up.faults.set('coingecko', { kind: 'unauthorized' });
    const response = await get('/simple/price?vs_currencies=usd&ids=weth', 'coingecko');
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ status: { error_code: 401, error_message: 'Unauthorized' } });
  });

  test('malformed: truncated JSON', async () => {
    up.faults.set('merkl', { kind: 'malformed' });
    const response = await get();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const text = await response.text();
    expect(text.startsWith('[{')).toBe(true);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  test('html: a page with status 200', async () => {
    up.faults.set('merkl', { kind: 'html' });
    const response = await get();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await response.text()).toContain('<!DOCTYPE html>');
  });

  test('reset: in the middle of the body', async () => {
    up.faults.set('merkl', { kind: 'reset' });
    // Where it breaks depends on how much had arrived: on the head or on the body, but never whole.
    await expect(get().then((response) => response.text())).rejects.toThrow();
    expect(up.requests('merkl')).toHaveLength(1);
  });

  test('slowDrip: the whole answer in pieces', async () => {
    const before = JSON.stringify(await good());
    const after = JSON.stringify(await bad({ kind: 'slowDrip', chunkBytes: 1_000, everyMs: 77 }));
    expect(after).toBe(before);
    expect(slept).toEqual(Array.from({ length: Math.ceil(Buffer.byteLength(after) / 1_000) }, () => 77));
  });

  test('hang: no answer until the client aborts', async () => {
    up.faults.set('merkl', { kind: 'hang' });
    const abort = new AbortController();
    let settled = false;
    const hanging = get(CAMPAIGNS, 'merkl', { signal: abort.signal }).finally(() => {
      settled = true;
    });
    while (up.requests('merkl').length === 0) await good('/pools', 'stablewatch');
    await good('/pools', 'stablewatch');
    expect(settled).toBe(false);
    expect(up.requests('merkl')[0]).toMatchObject({ fault: 'hang', status: null });
    abort.abort();
    await expect(hanging).rejects.toThrow('aborted');
  });

  test('behavior: stopping ends hanging requests', async () => {
    const own = await startTestUpstreams();
    own.faults.set('all', { kind: 'hang' });
    const hanging = PROVIDERS.map((provider) => fetch(own.urls[provider]).then(String, () => 'ended'));
    while (own.requests().length < PROVIDERS.length) await fetch(own.origin);
    await own.stop();
    expect(await Promise.all(hanging)).toEqual(PROVIDERS.map(() => 'ended'));
  });
});

describe('faults of the body', () => {
  type Campaign = { id: string; apr?: unknown; params?: unknown };

  test('partial: items are missing, others lack their value', async () => {
    const whole = (await good()) as Campaign[];
    const rows = (await bad({ kind: 'partial' })) as Campaign[];
    expect(rows.map(({ id }) => id)).toEqual(whole.filter((_, i) => i % 3 !== 1).map(({ id }) => id));
    expect(rows.map((row) => 'apr' in row && 'params' in row)).toEqual(rows.map((_, i) => i % 2 === 0));
  });

  test('missingField: removed from every item, or from the named one', async () => {
    const rows = (await bad({ kind: 'missingField' })) as Campaign[];
    expect(rows.some((row) => 'apr' in row || 'params' in row)).toBe(false);
    const named = (await bad({ kind: 'missingField', field: 'rewardToken' })) as (Campaign & {
      rewardToken?: unknown;
    })[];
    expect(named.every((row) => 'apr' in row && !('rewardToken' in row))).toBe(true);
  });

  test('empty: no items', async () => {
    expect(await bad({ kind: 'empty' })).toEqual([]);
    const prices = '/simple/price?vs_currencies=usd&ids=weth,tether';
    expect(await bad({ kind: 'empty' }, prices, 'coingecko')).toEqual({});
    const coins = '/prices/current/coingecko:weth';
    expect(await bad({ kind: 'empty' }, coins, 'defillama-coins')).toEqual({ coins: {} });
    expect(await bad({ kind: 'empty' }, '/v2/markets/all', 'pendle')).toMatchObject({ results: [] });
  });

  test('absurd and nan: falsifies the values', async () => {
    const rows = (await bad({ kind: 'absurd' })) as Campaign[];
    expect(rows.slice(0, 3).map(({ apr }) => apr)).toEqual([-1e9, 1e30, -1e9]);
    const prices = '/simple/price?vs_currencies=usd&ids=weth';
    expect(await bad({ kind: 'nan' }, prices, 'coingecko')).toEqual({ weth: { usd: 'NaN' } });
    const { prices: chart } = (await bad(
      { kind: 'absurd' },
      '/coins/weth/market_chart?vs_currency=usd&days=1',
      'coingecko',
    )) as { prices: [number, number][] };
    expect(chart.slice(0, 2).map(([, value]) => value)).toEqual([-1e9, 1e30]);
  });

  test('duplicate: every item twice', async () => {
    const whole = (await good()) as Campaign[];
    const rows = (await bad({ kind: 'duplicate' })) as Campaign[];
    expect(rows.map(({ id }) => id)).toEqual(whole.flatMap(({ id }) => [id, id]));
  });

  test('behavior: partial drops items of records and of rows', async () => {
    const ids = 'weth,usd-coin,tether';
    const prices = await bad({ kind: 'partial' }, `/simple/price?vs_currencies=usd&ids=${ids}`, 'coingecko');
    expect(prices).toEqual({ weth: { usd: 3200 }, tether: {} });
  });

  test('behavior: a single item keeps its form', () => {
    const { shape } = providers.kyberswap;
    const route = {
      code: 0,
      data: { routeSummary: { amountOut: '5', route: [[{ amountOut: '5' }]] }, routerAddress: '0x1' },
    };
    expect(corrupt(route, { kind: 'empty' }, shape)).toEqual({});
    expect(corrupt(route, { kind: 'missingField' }, shape)).toEqual({
      code: 0,
      data: { routeSummary: { route: [[{}]] } },
    });
    expect(corrupt(route, { kind: 'absurd' }, shape)).toMatchObject({
      data: { routeSummary: { amountOut: '-1000000000' } },
    });
    expect(corrupt(route, { kind: 'partial' }, shape)).toEqual(corrupt(route, { kind: 'missingField' }, shape));
    expect(corrupt(route, { kind: 'duplicate' }, shape)).toEqual(route);
    const build = { code: 0, data: { amountOut: '5', data: '0xabcd' } };
    expect(corrupt(build, { kind: 'missingField', field: 'data' }, shape)).toEqual({
      code: 0,
      data: { amountOut: '5' },
    });
  });

  test('behavior: falsifies the content of a GraphQL answer', () => {
    const { shape } = providers.morpho;
    const answer = { data: { m0: { points: [{ x: 1, y: 0.05 }] }, m1: { points: [] } } };
    expect(corrupt(answer, { kind: 'empty' }, shape)).toEqual({ data: {} });
    expect(corrupt(answer, { kind: 'nan' }, shape)).toEqual({
      data: { m0: { points: [{ x: 1, y: 'NaN' }] }, m1: { points: [] } },
    });
    expect(corrupt(answer, { kind: 'partial' }, shape)).toEqual({ data: { m0: answer.data.m0 } });
  });
});

describe('faults', () => {
  const status = async (path?: string, provider?: Provider) => (await get(path, provider)).status;

  test('behavior: affects only its provider, path and number of requests', async () => {
    up.faults.set('merkl', { kind: 'status', status: 500 }, { path: '/campaigns/', times: 2 });
    expect(await status()).toBe(200);
    expect(await status('/pools', 'stablewatch')).toBe(200);
    expect(await status('/campaigns/1/metrics')).toBe(500);
    expect(up.faults.list()).toMatchObject([{ provider: 'merkl', path: '/campaigns/', times: 1 }]);
    expect(await status('/campaigns/1/metrics')).toBe(500);
    expect(await status('/campaigns/1/metrics')).toBe(404);
    expect(up.faults.list()).toEqual([]);
  });

  test('behavior: the latest one wins, and replaces the one of the same path', async () => {
    up.faults.set('merkl', { kind: 'status', status: 500 });
    up.faults.set('merkl', { kind: 'status', status: 502 }, { path: 'page=1' });
    up.faults.set('merkl', { kind: 'status', status: 503 });
    expect(up.faults.list()).toHaveLength(2);
    expect(await status()).toBe(503);
    up.faults.set('merkl', { kind: 'status', status: 502 }, { path: 'page=1' });
    expect(await status(`${CAMPAIGNS}&page=1`)).toBe(502);
    up.faults.clear('stablewatch');
    expect(await status()).toBe(503);
    up.faults.clear('merkl');
    expect(await status()).toBe(200);
  });

  test('behavior: plants and removes all faults at once', async () => {
    up.faults.set('all', { kind: 'status', status: 500 });
    const statuses = await Promise.all(PROVIDERS.map((provider) => status('', provider)));
    expect(statuses).toEqual(PROVIDERS.map(() => 500));
    up.faults.clear();
    expect(await status()).toBe(200);
  });

  test('error: an unknown fault', () => {
    expect(() => up.faults.set('merkl', { kind: 'status', status: 200 })).toThrow();
    expect(() => up.faults.set('merkl', { kind: 'hang' }, { times: 0 })).toThrow('times');
    expect(FAULT_KINDS).toHaveLength(20);
  });
});

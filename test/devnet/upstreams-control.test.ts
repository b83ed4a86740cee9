import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Control, startControl } from '../../devnet/control.ts';
import { FAULT_KINDS } from '../../devnet/upstreams/index.ts';
import type { Market } from '../../src/catalog/index.ts';
import { must, startTestUpstreams, type TestUpstreams } from './upstreams-support.ts';

let up: TestUpstreams;
let control: Control;
const prices = new Map<string, bigint>();
const passed: [number, number][] = [];

const feeds: unknown[] = [];
const fed =
  (verb: string) =>
  async (market: Market, ...args: readonly bigint[]) =>
    void feeds.push([verb, market.collateral.symbol, ...args]);

/** The chain verbs, on numbers kept here. */
const verbs = (chainId: number) => {
  const id = (market: Market | string): string => (typeof market === 'string' ? market : market.oracle);
  const oraclePrice = async (market: Market | string) => prices.get(id(market)) ?? 10n ** 36n;
  const set = async (market: Market | string, price: bigint) => {
    prices.set(id(market), price);
  };
  return {
    oraclePrice,
    setOraclePrice: set as never,
    moveOracle: async (market: Market | string, percent: string) => {
      const price = ((await oraclePrice(market)) * BigInt(100 + Number(percent))) / 100n;
      await set(market, price);
      return price;
    },
    increaseTime: async (seconds: number) => {
      passed.push([chainId, seconds]);
    },
    freezeFeed: fed('freezeFeed') as never,
    unfreezeFeed: fed('unfreezeFeed') as never,
    dateFeed: fed('dateFeed') as never,
  };
};

beforeAll(async () => {
  up = await startTestUpstreams();
  const settings = { RPC_URL_1: 'http://127.0.0.1:1', MERKL_URL: up.urls.merkl };
  control = await startControl({ chains: { on: verbs }, upstreams: up, catalog: up.catalog, settings });
});
afterEach(() => {
  up.faults.clear();
  prices.clear();
  feeds.length = 0;
});
afterAll(async () => {
  await control.stop();
  await up.stop();
});

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${control.url}${path}`, {
    method,
    headers,
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, never> & { error?: string } };
}

describe('startControl', () => {
  test('default: GET / lists chains, providers, faults and commands', async () => {
    const { status, body } = await call('GET', '/');
    expect(status).toBe(200);
    expect(body).toMatchObject({ chains: [1, 4663], providers: up.urls });
    expect(Object.keys(body.faults as unknown as object)).toEqual(FAULT_KINDS);
    expect(body.faults as unknown as object).toMatchObject({ rateLimited: ['retryAfterSec', 'asDate'], hang: [] });
  });

  test('behavior: every example of GET / is accepted', async () => {
    const { body } = await call('GET', '/');
    const can = body.can as unknown as Record<string, { examples?: unknown[] }>;
    const tried = Object.entries(can).flatMap(([name, { examples = [] }]) =>
      examples.map((example) => [name, example]),
    );
    expect(tried.length).toBeGreaterThan(4);
    for (const [name, example] of tried) {
      const [method = '', path = ''] = String(name).split(' ');
      expect(await call(method, path, example)).toMatchObject({ status: 200 });
    }
  });

  test('behavior: GET /settings returns the settings for another process, as NAME=value', async () => {
    const response = await fetch(`${control.url}/settings`);
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect((await response.text()).trim().split('\n')).toEqual([
      'RPC_URL_1=http://127.0.0.1:1',
      `MERKL_URL=${up.urls.merkl}`,
    ]);
  });

  test('error: an unknown path', async () => {
    expect(await call('PUT', '/faults', {})).toMatchObject({
      status: 404,
      body: { error: 'There is no PUT /faults.' },
    });
  });

  test('error: web pages are refused', async () => {
    expect((await call('GET', '/', undefined, { origin: 'https://example.com' })).status).toBe(403);
  });
});

describe('faults', () => {
  test('default: sets, lists and removes faults', async () => {
    const { body } = await call('POST', '/faults', {
      provider: 'merkl',
      fault: { kind: 'status', status: 502 },
      times: 3,
    });
    expect(body.faults).toEqual([{ provider: 'merkl', fault: { kind: 'status', status: 502 }, times: 3 }]);
    expect((await up.ask('merkl', '/campaigns')).status).toBe(502);
    expect((await call('DELETE', '/faults?provider=merkl')).body.faults).toEqual([]);
    expect((await up.ask('merkl', '/campaigns')).status).toBe(200);
  });

  test('behavior: accepts a kind without parameters, and all providers at once', async () => {
    await call('POST', '/faults', { provider: 'all', fault: 'unauthorized', path: '/pools' });
    expect((await up.ask('stablewatch', '/pools')).status).toBe(401);
    expect((await call('DELETE', '/faults')).body.faults).toEqual([]);
  });

  test.each([
    ['an unknown provider', { provider: 'nobody', fault: 'hang' }],
    ['an unknown fault', { provider: 'merkl', fault: 'sulk' }],
    ['a fault without its parameter', { provider: 'merkl', fault: 'latency' }],
    ['a parameter out of range', { provider: 'merkl', fault: { kind: 'status', status: 200 } }],
    ['an unknown field', { provider: 'merkl', fault: 'hang', time: 3 }],
    ['no JSON', 'hang'],
  ])('error: %s', async (_what, body) => {
    const answer = await call('POST', '/faults', body);
    expect(answer.status).toBe(400);
    expect(answer.body.error?.length).toBeGreaterThan(10);
    expect(up.faults.list()).toEqual([]);
  });
});

describe('feed', () => {
  test('default: freezes, resumes and dates the feeds behind the oracles of a collateral', async () => {
    for (const state of [{ state: 'frozen' }, { state: 'running' }, { updatedAt: '0' }]) {
      const { status, body } = await call('POST', '/feed', { chainId: 4663, token: 'SPY', ...state });
      expect([status, (body.feeds as unknown as unknown[]).length]).toEqual([200, 1]);
    }
    expect(feeds).toEqual([
      ['freezeFeed', 'SPY'],
      ['unfreezeFeed', 'SPY'],
      ['dateFeed', 'SPY', 0n],
    ]);
  });

  test.each([
    [{ chainId: 4663, token: 'SPY' }, 'exactly one of state'],
    [{ chainId: 4663, token: 'SPY', state: 'frozen', updatedAt: '1' }, 'exactly one of state'],
    [{ chainId: 4663, token: 'SPY', updatedAt: '-1' }, 'unix seconds'],
    [{ chainId: 4663, token: 'wsNET', state: 'frozen' }, 'wsNET/USDG: opaque'],
  ])('error: %j', async (body, message) => {
    const { status, body: answer } = await call('POST', '/feed', body);
    expect([status, answer.error]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('oracle', () => {
  const market = (collateral: string, loan: string): Market =>
    must(
      up.chain(1).markets.find((m) => m.collateral.symbol === collateral && m.loan.symbol === loan),
      `${collateral}/${loan}`,
    );

  test('default: moves one market', async () => {
    const { id, oracle } = market('siUSD', 'USDC');
    const { body } = await call('POST', '/oracle', { chainId: 1, marketId: id, movePercent: -5 });
    expect(body.moved).toMatchObject([{ marketId: id, pair: 'siUSD/USDC', oracle }]);
    expect(prices).toEqual(new Map([[oracle, (10n ** 36n * 95n) / 100n]]));
  });

  test('behavior: moves every oracle of a collateral once', async () => {
    await call('POST', '/oracle', { chainId: 1, token: 'wstETH', movePercent: '10' });
    const oracles = up
      .chain(1)
      .markets.flatMap(({ collateral, oracle }) => (collateral.symbol === 'wstETH' ? [oracle] : []));
    expect(oracles.length).toBeGreaterThan(new Set(oracles).size);
    expect(prices).toEqual(new Map(oracles.map((oracle) => [oracle, (10n ** 36n * 110n) / 100n])));
  });

  test('behavior: a price is loan tokens per collateral token', async () => {
    const { id, oracle } = market('siUSD', 'USDC');
    const { body } = await call('POST', '/oracle', { chainId: 1, marketId: id, price: '1.02' });
    expect(prices.get(oracle)).toBe(1_020_000n * 10n ** 18n);
    expect(body.moved).toMatchObject([{ after: '1.02' }]);
  });

  test.each([
    ['no target', { chainId: 1, movePercent: 1 }, 400],
    ['two targets', { chainId: 1, token: 'siUSD', marketId: '0x1', movePercent: 1 }, 400],
    ['neither move nor price', { chainId: 1, token: 'siUSD' }, 400],
    ['both move and price', { chainId: 1, token: 'siUSD', movePercent: 1, price: 1 }, 400],
    ['a move to nothing', { chainId: 1, token: 'siUSD', movePercent: -100 }, 400],
    ['a price of nothing', { chainId: 1, token: 'siUSD', price: '0' }, 400],
    ['a price in two loan tokens', { chainId: 1, token: 'wstETH', price: '1' }, 400],
    ['no number', { chainId: 1, token: 'siUSD', movePercent: '1e3' }, 400],
    ['another chain', { chainId: 5, token: 'siUSD', movePercent: 1 }, 400],
    ['a token that is no collateral', { chainId: 1, token: 'USDC', movePercent: 1 }, 404],
    ['an unknown market', { chainId: 1, marketId: '0x12', movePercent: 1 }, 404],
  ])('error: %s', async (_what, body, status) => {
    expect((await call('POST', '/oracle', body)).status).toBe(status);
    expect(prices.size).toBe(0);
  });
});

describe('time and requests', () => {
  test('default: advances the time of a chain', async () => {
    passed.length = 0;
    expect((await call('POST', '/time', { chainId: 4663, seconds: 3600 })).body).toEqual({
      chainId: 4663,
      advancedSeconds: 3600,
    });
    expect(passed).toEqual([[4663, 3600]]);
    expect((await call('POST', '/time', { chainId: 4663, seconds: -1 })).status).toBe(400);
  });

  test('default: lists the received requests', async () => {
    await call('DELETE', '/requests');
    await up.ask('royco', '/nothing');
    const { body } = await call('GET', '/requests?provider=royco');
    expect(body).toMatchObject({ counts: { royco: 1, merkl: 0 }, requests: [{ provider: 'royco', path: '/nothing' }] });
    expect((await call('GET', '/requests?provider=x')).status).toBe(400);
  });
});

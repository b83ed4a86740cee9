import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKyberswap } from '../../src/upstreams/kyberswap/client.ts';
import { createOpenocean } from '../../src/upstreams/openocean/client.ts';
import { swapRequest } from './cases/swaps.ts';
import { type FakeProvider, startFakeProvider } from './support/server.ts';
import { fixture, type TestDeps, testDeps } from './support/world.ts';

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
const respond = () =>
  provider.respond({
    'GET /ethereum/api/v1/routes': fixture('kyberswap-route'),
    'POST /ethereum/api/v1/route/build': fixture('kyberswap-build'),
  });

describe('codes of createKyberswap', () => {
  it.each([4008, 4010])('behavior: code %s means no route, with any status', async (code) => {
    respond();
    const { quotes, routes } = createKyberswap(deps);
    for (const status of [200, 400, 404, 422]) {
      provider.fault({ status, body: { code, message: 'route not found' } });
      expect(await quotes.quote(swapRequest)).toBeNull();
      expect(await routes.route(swapRequest)).toBeNull();
    }
  });

  it.each([
    [400, { code: 4004, message: 'invalid value' }],
    [400, { code: 4000, message: 'bad request' }],
    [400, { code: 4009, message: 'amount exceeds' }],
    [400, {}],
    [400, { code: '4008' }],
    [404, { message: 'page not found' }],
    [404, { code: 4008.5 }],
    [405, {}],
    [410, {}],
    [418, { code: 0 }],
    [422, { code: 4229 }],
    [451, {}],
  ])('error: UpstreamError `rejected` for %s with %j: it is no statement about routes', async (status, body) => {
    respond();
    const { quotes, routes } = createKyberswap(deps);
    provider.fault({ status, body });
    await expect(quotes.quote(swapRequest)).rejects.toMatchObject({ reason: 'rejected' });
    await expect(routes.route(swapRequest)).rejects.toMatchObject({ reason: 'rejected' });
  });

  it.each([
    ['rejected', { code: 4004, message: 'invalid value', data: null }],
    ['rejected', { code: 4221 }],
    ['server_error', { code: 500 }],
    ['server_error', { code: 50_001 }],
    ['rate_limited', { code: 429 }],
    ['malformed', {}],
    ['malformed', { code: 0, data: null }],
    ['malformed', { error: { code: 4008 } }],
    ['malformed', { code: '4008' }],
  ] as const)('error: UpstreamError `%s` for a 200 with %j', async (reason, body) => {
    respond();
    const { quotes, routes } = createKyberswap(deps);
    provider.fault({ status: 200, body });
    await expect(quotes.quote(swapRequest)).rejects.toMatchObject({ reason });
    await expect(routes.route(swapRequest)).rejects.toMatchObject({ reason });
  });

  it.each([
    [401, 'rejected'],
    [403, 'rejected'],
    [408, 'timeout'],
    [429, 'rate_limited'],
    [500, 'server_error'],
    [502, 'server_error'],
  ])('error: UpstreamError for %s, also with a code of no route', async (status, reason) => {
    respond();
    for (const code of [4008, 4010, 4011]) {
      const { quotes, routes } = createKyberswap(deps);
      provider.fault({ status, body: { code } });
      await expect(quotes.quote(swapRequest)).rejects.toMatchObject({ reason });
      await expect(routes.route(swapRequest)).rejects.toMatchObject({ reason });
    }
  });

  it('behavior: an unknown token has no route in a sweep, which doubts it, and is a failure for a caller', async () => {
    respond();
    const { quotes, routes } = createKyberswap(deps);
    provider.fault({ status: 400, body: { code: 4011, message: 'token not found' } });
    expect(await routes.route(swapRequest)).toBeNull();
    await expect(quotes.quote(swapRequest)).rejects.toMatchObject({ reason: 'missing' });
  });

  const MOVED = [
    ...Array.from({ length: 9 }, (_, i) => [422, 4220 + i] as const),
    [400, 40_012] as const,
    [400, 4003] as const,
    [400, 4008] as const,
  ];
  it.each(MOVED)('behavior: a build refused with %s and code %s takes a fresh route, once', async (status, code) => {
    respond();
    const { quotes } = createKyberswap(deps);
    const fault = { status, body: { code, message: 'the price has moved' } };
    provider.fault(fault, ({ method }, index) => method === 'POST' && index < 2);
    expect(await quotes.quote(swapRequest)).toMatchObject({ source: 'AggregatorOne' });
    expect(provider.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET', 'POST']);
    provider.fault(fault, ({ method }) => method === 'POST');
    await expect(quotes.quote(swapRequest)).rejects.toMatchObject({
      code: 'upstream_unavailable',
      retryable: true,
      reason: 'price_moved',
    });
    expect(provider.requests).toHaveLength(8);
  });

  it('error: UpstreamError `rejected` for a build with a parameter of ours that is wrong', async () => {
    respond();
    provider.fault({ status: 400, body: { code: 4000 } }, ({ method }) => method === 'POST');
    await expect(createKyberswap(deps).quotes.quote(swapRequest)).rejects.toMatchObject({ reason: 'rejected' });
    expect(provider.requests).toHaveLength(2);
  });
});

describe('codes of createOpenocean', () => {
  it.each([
    [400, 'not find route', null],
    [404, 'No route found', null],
    [400, 'gasPriceDecimals is invalid', 'rejected'],
    [400, 'we could not find route 66 for your referrer', 'rejected'],
    [404, 'text', 'rejected'],
    [429, 'text', 'rate_limited'],
    [500, 'not find route', 'server_error'],
    [401, 'text', 'rejected'],
  ])('behavior: code %s "%s", with status 200 or its own, is %s', async (code, error, reason) => {
    const body = { code, error };
    provider.respond({ 'GET /v4/eth/swap': body });
    for (const fault of [null, { status: code, body }]) {
      provider.fault(fault);
      const quote = createOpenocean(deps).quote(swapRequest);
      if (reason === null) expect(await quote).toBeNull();
      else await expect(quote).rejects.toMatchObject({ reason });
    }
  });
});

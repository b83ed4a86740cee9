import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCoingecko } from '../../src/upstreams/coingecko/client.ts';
import { createProviderStates } from '../../src/upstreams/provider-states.ts';
import { type FakeProvider, startFakeProvider } from './support/server.ts';
import { ethereum, fixture, must, type TestDeps, testDeps } from './support/world.ts';

let provider: FakeProvider;
let deps: TestDeps;
beforeEach(async () => {
  provider = await startFakeProvider();
  deps = testDeps(provider.url);
  provider.respond({ 'GET /coins/weth/market_chart': fixture('coingecko-chart') });
});
afterEach(async () => {
  await provider.close();
  expect(provider.unexpected).toEqual([]);
});

const codeOf = (error_code: number) => ({ status: { error_code, error_message: 'wrong root url for this key' } });

it.each([
  [10_010, 'rejected'],
  [429, 'rate_limited'],
])('error: UpstreamError for the code %s with status 200, of prices and of charts', async (code, reason) => {
  provider.respond({ 'GET /simple/price': codeOf(code), 'GET /coins/weth/market_chart': codeOf(code) });
  const { prices, charts } = createCoingecko(deps);
  const weth = must(ethereum.tokens.find(({ coingeckoId }) => coingeckoId === 'weth'));
  await expect(prices.usdPrices([weth])).rejects.toMatchObject({ reason });
  await expect(charts.chart('weth', 7, 'usd')).rejects.toMatchObject({ reason });
});

describe('refusals of a chart', () => {
  const chart = () => createCoingecko(deps).charts.chart('weth', 7, 'usd');

  it.each([400, 422])("behavior: %s is the caller's currency in the provider's own words alone", async (status) => {
    provider.fault({ status, body: { error: 'invalid vs_currency' } });
    expect(await chart()).toBe('unknown_currency');
  });

  it("behavior: 404 is an unknown coin in the provider's own words alone", async () => {
    provider.fault({ status: 404, body: { error: 'coin not found' } });
    expect(await chart()).toBeNull();
  });

  it.each([
    [400, codeOf(10_010), 'rejected'],
    [400, codeOf(10_011), 'rejected'],
    [400, { error: { status: { error_code: 10_010 } } }, 'rejected'],
    [400, {}, 'rejected'],
    [422, { error: 'invalid days' }, 'rejected'],
    [401, codeOf(10_002), 'rejected'],
    [404, { error: 'Incorrect path' }, 'rejected'],
    [400, { error: ['invalid vs_currency'] }, 'rejected'],
    [429, codeOf(429), 'rate_limited'],
  ])('error: UpstreamError for %s with %j: %s', async (status, body, reason) => {
    provider.fault({ status, body });
    const states = createProviderStates(deps.clock);
    const { charts } = createCoingecko({ ...deps, states });
    await expect(charts.chart('weth', 7, 'usd')).rejects.toMatchObject({ code: 'upstream_unavailable', reason });
    expect(states.list().find(({ part }) => part === 'charts')).toMatchObject({ status: 'failing', reason });
  });

  it('behavior: the code of a wrong key is in the state of the provider', async () => {
    const states = createProviderStates(deps.clock);
    provider.fault({ status: 400, body: codeOf(10_010) });
    await createCoingecko({ ...deps, states })
      .charts.chart('weth', 7, 'usd')
      .catch(() => {});
    expect(states.list().find(({ part }) => part === 'charts')?.failures).toMatchObject([
      { httpStatus: 400, code: 10_010, reason: 'rejected' },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createCoingecko } from '../../src/upstreams/coingecko/client.ts';
import { upstreamsConfig } from '../../src/upstreams/config.ts';
import { UpstreamError } from '../../src/upstreams/errors.ts';

const ids = (url: URL) => (url.searchParams.get('ids') ?? '').split(',');

/** A provider in memory that answers everything, and a clock that stands still. */
function provider() {
  const requested: string[] = [];
  const fetch = (async (input: string | URL | Request) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    requested.push(url.pathname);
    const body = url.pathname.endsWith('/simple/price')
      ? Object.fromEntries(ids(url).map((id) => [id, { usd: 1.5 }]))
      : { prices: [[1, 2]], market_caps: [], total_volumes: [] };
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  }) as typeof globalThis.fetch;
  return { requests: requested, fetch };
}

describe(createCoingecko, () => {
  it('behavior: charts never use up the budget of prices', async () => {
    const { requests: request, fetch } = provider();
    const { prices, charts } = createCoingecko({
      config: upstreamsConfig({ coingecko: { baseUrl: 'http://127.0.0.1:1', apiKey: 'demo' } }).coingecko,
      fetch,
      clock: { now: () => 1_800_000_000_000 },
      logger: silentLogger,
      sleep: async () => {},
    });
    const outcomesOf = (isUnlisted: boolean, count: number) =>
      Promise.allSettled(Array.from({ length: count }, (_, i) => charts.chart(`coin-${i}`, 7, 'usd', { isUnlisted })));
    const invented = await outcomesOf(true, 100);
    expect(invented.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(90);
    // Those of the catalog have the rest of their share.
    const sent = request.length;
    await charts.chart('weth', 7, 'usd').catch(() => {});
    expect(request).toHaveLength(sent + 1);
    const outcomes = await outcomesOf(false, 200);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused.length).toBeGreaterThan(150);
    for (const error of refused) expect(error).toBeInstanceOf(UpstreamError);

    const [chain] = createCatalog(curatedChains).chains;
    const priced = (chain?.tokens ?? []).filter(({ coingeckoId }) => coingeckoId !== undefined);
    const { values } = await prices.usdPrices(priced);
    expect(values.size).toBe(priced.length);
    expect(request.filter((path) => path.endsWith('/simple/price')).length).toBeGreaterThan(0);
  });
});

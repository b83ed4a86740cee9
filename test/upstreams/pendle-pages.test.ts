import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPendle } from '../../src/upstreams/pendle/client.ts';
import { type FakeProvider, type SeenRequest, startFakeProvider } from './support/server.ts';
import { ethereum, plain, type TestDeps, testDeps, token } from './support/world.ts';

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

const pt = token('PT-apyUSD-5NOV2026');
const row = (address: string, impliedApy: number) => ({ pt: `1-${address.toLowerCase()}`, details: { impliedApy } });
const all = [
  ...Array.from({ length: 230 }, (_, i) => row(`0x${String(i).padStart(40, '0')}`, 0.01)),
  row(pt.address, 0.07),
];
const page =
  (list: 'results' | 'markets', most: number, withTotal: boolean) =>
  ({ query }: SeenRequest) => {
    const [skip, limit] = [Number(query.skip), Math.min(Number(query.limit), most)];
    const total = withTotal ? all.length : undefined;
    return { total, limit, skip, [list]: all.slice(skip, skip + limit) };
  };

it.each([
  ['results', 100, true, 3],
  ['markets', 100, true, 3],
  ['results', 100, false, 3],
  // A provider that answers smaller pages than were asked for.
  ['results', 25, true, 10],
] as const)('behavior: reads all pages of %s, %s a page, total given: %s', async (list, most, withTotal, requests) => {
  provider.respond({ 'GET /v2/markets/all': page(list, most, withTotal) });
  const { values, failures } = await createPendle(deps).apys.apys(ethereum, [pt]);
  expect([plain(values), failures.size]).toEqual([{ [pt.address]: { apyPct: '7' } }, 0]);
  expect(provider.requests).toHaveLength(requests);
  expect(provider.requests[1]?.query).toMatchObject({
    limit: '100',
    skip: String(most),
    chainId: '1',
    isActive: 'true',
  });
});

it('behavior: an endless list ends, and a token that is not in it is missing', async () => {
  provider.respond({
    'GET /v2/markets/all': () => ({ total: 1_000_000, results: [row(`0x${'1'.repeat(40)}`, 0.01)] }),
  });
  const { failures } = await createPendle(deps).apys.apys(ethereum, [pt]);
  expect(plain(failures)).toEqual({ [pt.address]: 'missing' });
  expect(provider.requests).toHaveLength(50);
});

it('error: UpstreamError when a later page fails', async () => {
  provider.respond({ 'GET /v2/markets/all': page('results', 100, true) });
  provider.fault({ status: 422 }, ({ query }) => query.skip === '100');
  await expect(createPendle(deps).apys.apys(ethereum, [pt])).rejects.toMatchObject({ reason: 'rejected' });
});

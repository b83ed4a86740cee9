import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MarketId } from '../../src/shared/ids.ts';
import { createMorphoApi } from '../../src/upstreams/morpho-api/client.ts';
import { type FakeProvider, type SeenRequest, startFakeProvider } from './support/server.ts';
import { ethereum, plain, testDeps } from './support/world.ts';

const ids = Array.from({ length: 65 }, (_, i) => `0x${i.toString(16).padStart(64, '0')}` as MarketId);
const point = { historicalState: { borrowApy: [{ x: 1_795_172_400, y: 0.05 }] } };

let provider: FakeProvider;
beforeEach(async () => {
  provider = await startFakeProvider();
});
afterEach(async () => {
  await provider.close();
  expect(provider.unexpected).toEqual([]);
});

const aliases = ({ body }: SeenRequest) => [
  ...(body as { query: string }).query.matchAll(/(m\d+): marketById\(marketId: "(0x[0-9a-f]{64})", chainId: 1\)/g),
];

/** A provider whose root field is not nullable: unknown markets void the answer, `perAnswer` of them named at a time. */
const knowingAllBut =
  (unknown: readonly string[], perAnswer = 99) =>
  (request: SeenRequest) => {
    const requested = aliases(request);
    const bad = requested.filter(([, , id]) => unknown.includes(id ?? '')).slice(0, perAnswer);
    if (bad.length > 0)
      return { data: null, errors: bad.map(([, alias]) => ({ message: 'NOT_FOUND', path: [alias] })) };
    return {
      data: Object.fromEntries(requested.map(([, alias]) => [alias, { ...point, publicAllocatorSharedLiquidity: [] }])),
    };
  };

describe('createMorphoApi', () => {
  it('behavior: at most 30 markets in a request, 10 with histories', async () => {
    provider.respond({ 'POST /': knowingAllBut([]) });
    const indexer = createMorphoApi(testDeps(provider.url));
    expect((await indexer.sharedLiquidity(ethereum, ids)).values.size).toBe(65);
    expect(provider.requests.map((request) => aliases(request).length).sort()).toEqual([30, 30, 5]);
    expect((await indexer.borrowHistory(ethereum, ids)).values.size).toBe(65);
    const sizes = provider.requests.slice(3).map((request) => aliases(request).length);
    expect(sizes.toSorted((a, b) => b - a)).toEqual([10, 10, 10, 10, 10, 10, 5]);
  });

  it('behavior: no allocatable liquidity is a measured zero', async () => {
    provider.respond({ 'POST /': knowingAllBut([]) });
    const { values } = await createMorphoApi(testDeps(provider.url)).sharedLiquidity(ethereum, ids.slice(0, 1));
    expect([...values.values()]).toEqual([{ sources: [] }]);
  });

  it.each([99, 1])('behavior: unknown markets do not affect the others (%s named at a time)', async (perAnswer) => {
    const unknown = [ids[1], ids[4]] as string[];
    provider.respond({ 'POST /': knowingAllBut(unknown, perAnswer) });
    const { values, failures } = await createMorphoApi(testDeps(provider.url)).borrowHistory(ethereum, ids.slice(0, 6));
    expect([...values.keys()].sort()).toEqual([ids[0], ids[2], ids[3], ids[5]]);
    expect(plain(failures)).toEqual(Object.fromEntries(unknown.map((id) => [id, 'missing'])));
  });

  it('behavior: retries are bounded', async () => {
    provider.respond({ 'POST /': knowingAllBut(ids, 1) });
    const { values, failures } = await createMorphoApi(testDeps(provider.url)).borrowHistory(ethereum, ids.slice(0, 9));
    expect(values.size).toBe(0);
    expect(failures.size).toBe(9);
    expect(provider.requests).toHaveLength(4);
  });

  it.each([
    ['rate_limited', { message: 'Too many requests', extensions: { code: 'RATE_LIMITED' } }],
    ['rate_limited', { message: 'x', path: ['m0'], extensions: { code: 429 } }],
    ['server_error', { message: 'internal' }],
    ['server_error', { message: 'Internal server error', path: ['m0'], extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
    ['rejected', { message: 'Field is gone', extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    ['rejected', { message: 'x', extensions: { code: 'UNAUTHENTICATED' } }],
  ])(
    'error: UpstreamError `%s` for a 200 with the error %j alone: no market is unknown by it',
    async (reason, error) => {
      provider.respond({ 'POST /': { data: null, errors: [error] } });
      const indexer = createMorphoApi(testDeps(provider.url));
      await expect(indexer.borrowHistory(ethereum, ids.slice(0, 2))).rejects.toMatchObject({ reason });
    },
  );
});

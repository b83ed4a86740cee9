import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStablewatch } from '../../src/upstreams/stablewatch/client.ts';
import { resolvePool } from '../../src/upstreams/stablewatch/map.ts';
import { type FakeProvider, startFakeProvider } from './support/server.ts';
import { API_KEY, fixture, testDeps, token } from './support/world.ts';

const pools = [
  { id: '66985a81-9c51-46ca-9977-42b4fe7bc6df', asset: 'sUSDe' },
  { id: '0x80AC24AA929EAF5013F6436CDA2A7BA190F5CC0B', asset: 'syrupUSDC' },
  { id: 'one', asset: 'twin' },
  { id: 'two', asset: 'twin' },
];

describe('resolvePool', () => {
  it('default', () => {
    expect(resolvePool(token('sUSDe'), pools)).toEqual({ ok: true, pool: pools[0] });
  });

  it('behavior: compares ids and symbols without case', () => {
    expect(resolvePool(token('syrupUSDC'), pools)).toEqual({ ok: true, pool: pools[1] });
    expect(resolvePool({ symbol: 'SUSDE' }, pools)).toEqual({ ok: true, pool: pools[0] });
  });

  it('behavior: a symbol never replaces a curated id', () => {
    expect(resolvePool({ symbol: 'sUSDe', stableIndexId: 'gone' }, pools)).toEqual({ ok: false, reason: 'missing' });
  });

  it('behavior: several pools of one asset do not match', () => {
    expect(resolvePool({ symbol: 'twin' }, pools)).toEqual({ ok: false, reason: 'not_configured' });
  });

  it('behavior: no pool', () => {
    expect(resolvePool({ symbol: 'unknown' }, pools)).toEqual({ ok: false, reason: 'missing' });
  });
});

describe('createStablewatch', () => {
  let provider: FakeProvider;
  beforeEach(async () => {
    provider = await startFakeProvider();
  });
  afterEach(() => provider.close());

  it('behavior: requests only the needed histories, each with the key', async () => {
    provider.respond({ 'GET /pools': fixture('stablewatch-pools') });
    const { values } = await createStablewatch(testDeps(provider.url)).pools(() => false);
    expect([...values.values()].map(({ history }) => history)).toEqual([[], [], []]);
    expect(provider.requests.map(({ path, query }) => [path, query])).toEqual([['/pools', { api_key: API_KEY }]]);
  });

  it('behavior: a pool that fails keeps its asset, by which tokens without a curated id are matched', async () => {
    const row = (id: string, avg7d: unknown) => ({ id, asset: 'sUSDS', metrics: { apy: { avg7d } } });
    provider.respond({
      'GET /pools': { data: [row('good', 4.25), row('absurd', 1e30), row('unreadable', 4.3)] },
      'GET /history/good': fixture('stablewatch-history'),
      'GET /history/unreadable': { data: null },
    });
    const { values, failures, failedAssets } = await createStablewatch(testDeps(provider.url)).pools(() => true);
    expect([[...values.keys()], [...failures.keys()].sort()]).toEqual([['good'], ['absurd', 'unreadable']]);
    expect([failedAssets?.get('absurd'), failedAssets?.get('unreadable')]).toEqual(['sUSDS', 'sUSDS']);
  });

  it('behavior: a pool without a history has an empty one', async () => {
    provider.respond({
      'GET /pools': fixture('stablewatch-pools'),
      'GET /history/66985a81-9c51-46ca-9977-42b4fe7bc6df': {},
    });
    provider.fault({ status: 404 }, ({ path }) => path !== '/pools');
    const { values } = await createStablewatch(testDeps(provider.url)).pools(({ asset }) => asset === 'sUSDe');
    expect(values.get('66985a81-9c51-46ca-9977-42b4fe7bc6df')?.history).toEqual([]);
  });
});

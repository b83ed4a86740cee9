import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { healthBody } from '../../../src/rest/schemas/status.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { CHAIN_IDS, expectEnvelope, SUSDE_PYUSD } from '../known.ts';

/** Nothing outside answers: both nodes and every provider hang. */
let service: TestService;
const proxies: RpcProxy[] = [];
beforeAll(async () => {
  service = await startService({
    warm: false,
    sleep: noSleep,
    env: { UPSTREAM_TIMEOUT_MS: '10000', RPC_TIMEOUT_MS: '10000' },
    arrange: async (world) => {
      world.upstreams.faults.set('all', { kind: 'hang' });
      for (const chainId of CHAIN_IDS) {
        const proxy = await startRpcProxy(world.chains.on(chainId).rpcUrl);
        proxy.set({ kind: 'hang' });
        proxies.push(proxy);
      }
      const [first, second] = proxies.map(({ url }) => url);
      return { RPC_URL_1: first ?? '', RPC_URL_4663: second ?? '' };
    },
  });
});
afterAll(async () => {
  await service?.stop();
  for (const proxy of proxies) await proxy.stop();
});

describe('before the first measurement', () => {
  test.each(['/v1/strategies', '/v1/strategies?chainId=4663', `/v1/strategies/${SUSDE_PYUSD}`, '/v1/app/markets'])(
    '503 %s',
    async (path) => {
      expectEnvelope(await service.get(path), 503, 'not_ready');
    },
  );

  test('bad input is still refused', async () => {
    expectEnvelope(await service.get('/v1/strategies?chainId=2'), 400, 'bad_request');
    expectEnvelope(await service.get('/v1/strategies/abc'), 400, 'bad_request');
  });

  test('/ready is 503 and names the missing groups; /health is 200', async () => {
    const ready = await service.get('/ready');
    expect(ready.status).toBe(503);
    expect(ready.body).toMatchObject({ ready: false, chains: CHAIN_IDS.map((chainId) => ({ chainId, ready: false })) });
    expect(ready.body.chains[0].waitingFor).toEqual(['lendingState', 'oracle']);
    const health = await service.get('/health');
    expect(health.status).toBe(200);
    expect(health.body.chains[0].excluded.length).toBeGreaterThan(0);
    healthBody.parse(health.body);
    for (const { groups } of health.body.chains) {
      for (const group of groups) expect(group).toMatchObject({ status: 'never', ageSec: null, items: 0 });
    }
  });

  test.each(['/v1/collateral/apy-history', `/v1/collateral/${SUSDE_PYUSD}/apy-history`])(
    'an unmeasured history is not empty: %s',
    async (path) => {
      const { status, body } = await service.get(path);
      expect(status).toBe(200);
      expect(body.stale).toBe(true);
      expect(body.gaps?.[SUSDE_PYUSD] ?? body.gap).toMatchObject({ reason: 'NOT_MEASURED' });
      expect(body.histories?.[SUSDE_PYUSD]).toBeUndefined();
    },
  );

  test('a collateral without yield has an answer that is neither missing nor stale', async () => {
    const plain = service.world.chains.on(1).chain.markets.find(({ collateral }) => collateral.apySource === 'none');
    const { body } = await service.get(`/v1/collateral/${plain?.id}/apy-history`);
    expect(body).toMatchObject({ stale: false, history: [], gap: { reason: 'NOT_APPLICABLE' } });
  });

  test('stable APY answers with an empty list and the stale flag', async () => {
    const { status, body } = await service.get('/v1/stable-apy');
    expect(status).toBe(200);
    expect(body).toEqual({ asOf: null, stale: true, stableApy: [] });
  });

  test('prices and histories are empty and stale', async () => {
    expect((await service.get('/v1/prices')).body).toEqual({ asOf: null, stale: true, prices: {} });
    for (const path of ['/v1/markets/borrow-apy-history', '/v1/collateral/apy-history']) {
      const { status, body } = await service.get(path);
      expect(status).toBe(200);
      expect(body).toMatchObject({ asOf: null, stale: true });
      for (const points of Object.values<Json>(body.histories)) expect(points).toEqual([]);
    }
    const one = await service.get(`/v1/markets/${SUSDE_PYUSD}/borrow-apy-history`);
    expect(one.body).toMatchObject({ id: SUSDE_PYUSD, asOf: null, stale: true, history: [] });
    expect(one.body.gap.reason).toBe('NOT_MEASURED');
  });

  test('GraphQL has the same code not_ready, and freshness has never', async () => {
    const { body } = await service.graphql('{ strategies { totalCount } }');
    expect(body.errors?.[0].extensions).toMatchObject({ code: 'not_ready', status: 503, retryable: true });
    const freshness = await service.graphql('{ freshness { ready groups { freshness { status } itemCount } } }');
    expect(freshness.body.data.freshness.map(({ ready }: Json) => ready)).toEqual([false, false]);
  });

  test('one chain answers while the other does not', async () => {
    proxies[0]?.set({ kind: 'pass' });
    await service.refresh('lending-state:1');
    const ready = await service.get('/ready');
    expect(ready.status).toBe(503);
    // Providers that hang hold a first start back for a minute, and no longer.
    expect(ready.body.chains.map((chain: Json) => chain.ready)).toEqual([false, false]);
    expect(ready.body.chains[0].waitingFor).toContain('price');
    for (const path of ['/v1/strategies', '/v1/app/markets']) {
      expectEnvelope(await service.get(path), 503, 'not_ready');
    }
    service.clock.advance(60_000);
    const later = (await service.get('/ready')).body.chains;
    expect(later.map((chain: Json) => chain.ready)).toEqual([true, false]);
    expect(later[0]).toMatchObject({ waitingFor: [], missing: expect.arrayContaining(['price']) });
    // The same wherever the facts are shown.
    const { missing } = later[0];
    const health = (await service.get('/health')).body.chains;
    expect(health[0].missing).toEqual(missing);
    const strategies = await service.get('/v1/strategies');
    expect(strategies.status).toBe(200);
    expect(strategies.body.missing.groups).toEqual(missing);
    const markets = (await service.get('/v1/app/markets')).body;
    expect(markets.missing).toEqual([{ chainId: 1, ...strategies.body.missing }]);
    expect(markets.leftOut.map(({ chainId }: Json) => chainId)).toEqual([4663]);
    expectEnvelope(await service.get('/v1/strategies?chainId=4663'), 503, 'not_ready');
  });

  test('age and a node that is away again end no read, nor does a restart', async () => {
    proxies[0]?.set({ kind: 'hang' });
    service.clock.advance(86_400_000);
    const read = async () => {
      const answers = await Promise.all(
        ['/v1/strategies', '/v1/app/markets?chainId=1', '/ready'].map((path) => service.get(path)),
      );
      return answers.map(({ status }) => status);
    };
    expect(await read()).toEqual([200, 200, 503]);
    await service.restart();
    service.clock.advance(60_000);
    expect(await read()).toEqual([200, 200, 503]);
  });
});

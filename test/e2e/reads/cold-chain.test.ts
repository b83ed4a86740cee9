import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { expectEnvelope } from '../known.ts';

/** The node of chain 4663 has been away since the start, and one source of APYs; chain 1 is well but for that. */
let service: TestService;
let proxy: RpcProxy;
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      proxy = await startRpcProxy(world.chains.on(4663).rpcUrl);
      proxy.set({ kind: 'down' });
      world.upstreams.faults.set('royco', { kind: 'status', status: 500 });
      return { RPC_URL_4663: proxy.url };
    },
  });
});
afterAll(async () => {
  await service?.stop();
  await proxy?.stop();
});

const LEFT_OUT = [{ chainId: 4663, waitingFor: ['lendingState', 'oracle'] }];
const chainsIn = ({ markets }: Json) => [...new Set(markets.map(({ chainId }: Json) => chainId))];

test('the markets leave out and name an unmeasured chain; alone it is 503', async () => {
  const all = await service.get('/v1/app/markets');
  expect(all.status).toBe(200);
  expect(chainsIn(all.body)).toEqual([1]);
  expect(all.body.leftOut).toEqual(LEFT_OUT);
  const one = await service.get('/v1/app/markets?chainId=1');
  expect(one.body.markets).toEqual(all.body.markets);
  expect(one.body).not.toHaveProperty('leftOut');
  expectEnvelope(await service.get('/v1/app/markets?chainId=4663'), 503, 'not_ready');
  expectEnvelope(await service.get('/v1/app/markets?chainId=2'), 400, 'bad_request');
});

test('the TVL names the excluded chain', async () => {
  const { body } = await service.get('/v1/tvl');
  const leftOut = [{ chainId: 4663, waitingFor: ['tvl'] }];
  expect([body.chains.map(({ chainId }: Json) => chainId), body.leftOut]).toEqual([[1], leftOut]);
  const typed = await service.graphql('{ tvl { leftOut: missingChains { chainId waitingFor } } }');
  expect(typed.body.data.tvl).toEqual({ leftOut: [{ chainId: 4663, waitingFor: ['TVL'] }] });
});

test('the lists of GraphQL do the same', async () => {
  const { body } = await service.graphql(
    '{ markets(first: 1) { missingChains { chainId reason retryAfterSec waitingFor } } strategies(first: 1) { missingChains { chainId reason retryAfterSec waitingFor } } }',
  );
  const missingChains = [
    { chainId: 4663, reason: 'NOT_READY', retryAfterSec: 2, waitingFor: ['LENDING_STATE', 'ORACLE'] },
  ];
  expect(body.data).toEqual({ markets: { missingChains }, strategies: { missingChains } });
  const alone = await service.graphql('{ strategies(chainIds: [4663]) { totalCount } chains { chainId } }');
  expect(alone.body.data).toEqual({ strategies: null, chains: [{ chainId: 1 }, { chainId: 4663 }] });
  expect(alone.body.errors).toMatchObject([{ path: ['strategies'], extensions: { code: 'not_ready' } }]);
});

test('a list names a missing strategy until its facts are measured', async () => {
  const market = service.world.chains
    .on(1)
    .chain.markets.find(({ collateral }) => collateral.apySource === 'incentivemarket');
  const known = await service.get('/v1/strategies');
  const waiting = { id: market?.id, symbol: expect.any(String), waitingFor: ['collateralApy'] };
  expect(known.body.missing).toEqual({ groups: [], strategies: [waiting] });
  const query =
    '{ strategies(chainIds: [1], first: 1) { missing: missingFacts { chainId strategies { id: strategyId } } } }';
  const { body } = await service.graphql(query);
  expect(body.data.strategies.missing).toEqual([{ chainId: 1, strategies: [{ id: market?.id }] }]);

  // Its history is not known, which is not the same as empty, and counts as stale.
  const { body: history } = await service.get(`/v1/collateral/${market?.id}/apy-history`);
  expect(history).toMatchObject({ asOf: null, stale: true, history: [], gap: { reason: 'SOURCE_FAILED' } });
  const { body: histories } = await service.get('/v1/collateral/apy-history');
  expect([histories.stale, histories.gaps[market?.id ?? ''].reason]).toEqual([true, 'SOURCE_FAILED']);

  service.world.upstreams.faults.clear('royco');
  await service.refresh('collateral-apy-incentivemarket');
  const whole = await service.get('/v1/strategies');
  expect(whole.body).not.toHaveProperty('missing');
  expect((await service.graphql(query)).body.data.strategies.missing).toEqual([]);
});

test.each(['/v1/markets/borrow-apy-history', '/v1/collateral/apy-history'])(
  '%s answers for all chains and for one, with the reason for unknown values',
  async (path) => {
    const ids = (chainId: number) => service.world.chains.on(chainId).chain.markets.map(({ id }) => id as string);
    const [all, first, second] = [
      await service.get(path),
      await service.get(`${path}?chainId=1`),
      await service.get(`${path}?chainId=4663`),
    ];
    expect([all.status, first.status, second.status]).toEqual([200, 200, 200]);
    const reported = ({ body }: Json) => [...Object.keys(body.histories), ...Object.keys(body.gaps ?? {})];
    expect(new Set(reported(all))).toEqual(new Set([...ids(1), ...ids(4663)]));
    expect(new Set(reported(first))).toEqual(new Set(ids(1)));
    expect(new Set(reported(second))).toEqual(new Set(ids(4663)));
    expectEnvelope(await service.get(`${path}?chainId=2`), 400, 'bad_request');
  },
);

test('the chain returns with its node', async () => {
  proxy.set({ kind: 'pass' });
  service.clock.advance(5_000);
  await service.refresh('lending-state:4663');
  const { body } = await service.get('/v1/app/markets');
  expect(chainsIn(body)).toEqual([1, 4663]);
  expect(body).not.toHaveProperty('leftOut');
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { addressOf, CHAIN_IDS, pathOf } from './paths.ts';

describe('before the first measurement', () => {
  let early: TestService;
  const cut = new Map<number, RpcProxy>();
  beforeAll(async () => {
    early = await startService({
      sleep: noSleep,
      arrange: async (world) => {
        for (const chainId of CHAIN_IDS) {
          const proxy = await startRpcProxy(world.chains.on(chainId).rpcUrl);
          proxy.set({ kind: 'down' });
          cut.set(chainId, proxy);
        }
        return Object.fromEntries([...cut].map(([chainId, { url }]) => [`RPC_URL_${chainId}`, url]));
      },
    });
  });
  afterAll(async () => {
    await early?.stop();
    for (const proxy of cut.values()) await proxy.stop();
  });

  test('error: 503 until a chain is computed; then only that chain', async () => {
    const none = await early.get('/v1/tvl');
    expect([none.status, none.body.error.code]).toEqual([503, 'not_ready']);
    const positions = await early.get(pathOf(addressOf('looper')), PARTNER);
    expect([positions.status, positions.body.error.code]).toEqual([503, 'not_ready']);
    cut.get(4663)?.set({ kind: 'pass' });
    early.clock.advance(5_000);
    await early.refresh('lending-state:4663', 'tvl:4663');
    const { status, body } = await early.get('/v1/tvl');
    expect(status).toBe(200);
    expect(body.chains.map(({ chainId }: Json) => chainId)).toEqual([4663]);
    const { chainId: _chainId, asOf, stale, oracleDivergences: _near, ...sums } = body.chains[0];
    expect(body).toMatchObject({ asOf, stale, total: sums });
  });
});

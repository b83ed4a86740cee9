import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import type { Timers } from '../../../src/shared/timers.ts';
import { equityChain } from '../../support/equity.ts';
import { type ProxyMode, type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { createWaitTimeouts } from '../../support/wait-timeouts.ts';
import { expectEnvelope } from '../known.ts';

/** The chain with a single node. */
const ALONE = 4663;
/** The chain with a healthy node beside the hostile one. */
const TWO = 1;
const PATIENCE_MS = 5_000;
const COOL_DOWN_MS = 5_000;
/** Longer than a node that failed is asked last. */
const REST_MS = 11_000;
const MEGABYTE = 1_024 * 1_024;
const HOSTILE: readonly (readonly [string, ProxyMode, string])[] = [
  ['hangs', { kind: 'hang' }, 'timeout'],
  ['sends its answer byte by byte', { kind: 'drip' }, 'timeout'],
  ['sends 200 MB', { kind: 'flood', bytes: 200 * MEGABYTE }, 'malformed'],
];

const waits = createWaitTimeouts();
/** Timeouts that requests asked for, ms. */
let asked: number[] = [];
const timeouts: Timers = {
  setTimeout: (callback, ms) => {
    asked.push(ms);
    // The time of a reader ends after that of its request.
    if (ms === PATIENCE_MS) return { timer: setTimeout(callback, 60_000) };
    return waits.timeouts.setTimeout(callback, ms);
  },
  clearTimeout: (handle) => {
    const { timer, ended } = handle as { timer?: NodeJS.Timeout; ended?: boolean };
    if (ended === undefined) clearTimeout(timer);
    else waits.timeouts.clearTimeout(handle);
  },
};

let service: TestService;
let alone: RpcProxy;
let hostile: RpcProxy;
let healthy: RpcProxy;
beforeAll(async () => {
  service = await startService({
    fetch: globalThis.fetch,
    sleep: noSleep,
    timeouts,
    env: { RPC_TIMEOUT_MS: '60000' },
    arrange: async (world) => {
      alone = await startRpcProxy(world.chains.on(ALONE).rpcUrl);
      hostile = await startRpcProxy(world.chains.on(TWO).rpcUrl);
      healthy = await startRpcProxy(world.chains.on(TWO).rpcUrl);
      return { [`RPC_URL_${ALONE}`]: alone.url, [`RPC_URL_${TWO}`]: `${hostile.url},${healthy.url}` };
    },
  });
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([alone?.stop(), hostile?.stop(), healthy?.stop()]);
});
afterEach(() => {
  for (const proxy of [alone, hostile, healthy]) proxy.set({ kind: 'pass' });
  waits.restore();
  service.clock.advance(REST_MS);
});

const nodesOf = async (chainId: number): Promise<Json[]> => {
  const { body } = await service.get('/health');
  return body.chains.find((chain: Json) => chain.chainId === chainId).nodes;
};
/** The breaker counts a failure once its request has ended, which may be after its reader has left. */
const resting = () =>
  vi.waitFor(async () => {
    const [node] = await nodesOf(ALONE);
    expect(Date.parse(node.restingUntil)).toBe(service.clock.now() + COOL_DOWN_MS);
  }, 5_000);
const shareholder = seededWallet('shareholder').account.address;
const positions = (chainId: number) => service.get(`/v1/partner/positions/${shareholder}?chainId=${chainId}`, PARTNER);

describe('the only node of a chain', () => {
  test.each(HOSTILE)(
    'error: UpstreamUnavailable in 5 s at most for a wallet while it %s, at once after three of them',
    async (_what, mode, reason) => {
      alone.set(mode);
      waits.endFor('hang');
      asked = [];
      const flooded = alone.flooded();
      for (let i = 0; i < 3; i += 1) {
        const answer = await positions(ALONE);
        expect(expectEnvelope(answer, 503, 'upstream_unavailable').details).toEqual({ provider: 'chain', reason });
        expect(answer.headers.get('retry-after')).toBe('5');
      }
      // Of each read one timer is the reader's own, and the others are of its requests.
      expect(asked.length).toBeGreaterThanOrEqual(3);
      expect(Math.max(...asked)).toBeLessThanOrEqual(PATIENCE_MS);
      expect(alone.flooded() - flooded).toBeLessThan(32 * MEGABYTE);

      await resting();
      alone.taken();
      const refused = await positions(ALONE);
      expect(expectEnvelope(refused, 503, 'upstream_unavailable').details).toEqual({ provider: 'chain', reason });
      expect(refused.headers.get('retry-after')).toBe('5');
      expect(alone.taken()).toBe(0);

      service.clock.advance(COOL_DOWN_MS);
      asked = [];
      expect((await positions(ALONE)).status).toBe(503);
      // The trial is one request, and a short one.
      expect([alone.taken(), Math.min(...asked)]).toEqual([1, 2_000]);
      await resting();
      alone.set({ kind: 'pass' });
      service.clock.advance(COOL_DOWN_MS);
      expect((await positions(ALONE)).status).toBe(200);
    },
  );

  test('error: UpstreamUnavailable for every build, preview and deposit while it hangs', async () => {
    const [vault] = equityChain().equityVaults;
    const loop = vault?.yieldMarket;
    const user = { userAddress: shareholder };
    const open = { strategyId: loop?.id, payToken: loop?.collateral.address, amount: '1', leverage: 2 };
    const bodies: Readonly<Record<string, object>> = {
      'equity/exit/build': { strategyId: vault?.id, ...user },
      'equity/deposit/build': { strategyId: vault?.id, amount: '100', ...user },
      'equity/simulate': { strategyId: vault?.id, amount: '100' },
      // Whether the loop belongs to a vault is read as well.
      'manage/build': { ...user, id: 0, action: 'close', chainId: ALONE },
      'leverage/build': { ...open, ...user, chainId: ALONE },
      'leverage/simulate': { ...open, chainId: ALONE },
    };
    alone.set({ kind: 'hang' });
    waits.endFor('hang');
    const answers = await Promise.all(
      Object.entries(bodies).map(([path, body]) => service.post(`/v1/partner/${path}`, body, PARTNER)),
    );
    for (const answer of answers) {
      expect(expectEnvelope(answer, 503, 'upstream_unavailable').details).toEqual({
        provider: 'chain',
        reason: 'timeout',
      });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('behavior: a warmer waits for its own timeout, and the values stay', async () => {
    const before = await service.get('/v1/app/markets');
    alone.set({ kind: 'hang' });
    waits.endFor('hang');
    asked = [];
    await service.refresh(`lending-state:${ALONE}`);
    expect(Math.max(...asked)).toBe(60_000);
    const after = await service.get('/v1/app/markets');
    expect([after.status, after.body.markets?.length]).toEqual([200, before.body.markets?.length]);
  });
});

describe('one of two nodes', () => {
  test.each(HOSTILE)('behavior: every wallet is read while one %s', async (_what, mode) => {
    hostile.set(mode);
    waits.endFor('hang');
    const flooded = hostile.flooded();
    for (let i = 0; i < 6; i += 1) expect((await positions(TWO)).status).toBe(200);
    expect(hostile.flooded() - flooded).toBeLessThan(32 * MEGABYTE);
    const [first, second] = await vi.waitFor(async () => {
      const nodes = await nodesOf(TWO);
      expect(nodes[0].status).toBe('failing');
      return nodes;
    }, 5_000);
    expect(second.status).toBe('ok');
    expect(Date.parse(first.failingSince)).toBeLessThanOrEqual(service.clock.now());
  });
});

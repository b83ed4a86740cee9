import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureLogs } from '../../support/log-capture.ts';
import { type ProxyMode, type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { createWaitTimeouts } from '../../support/wait-timeouts.ts';
import { expectEnvelope, SUSDE_PYUSD } from '../known.ts';
import { differences, observe, observeGroups } from '../observe.ts';

const logs = captureLogs();
let service: TestService;
let proxy: RpcProxy;
const waitTimeouts = createWaitTimeouts();
const READS = ['/v1/strategies', '/v1/app/markets'];
const OTHER_CHAIN = ['/v1/strategies?chainId=4663'];
/** Reverts every call: PUSH1 0 PUSH1 0 REVERT. */
const REVERTING = '0x60006000fd';

beforeAll(async () => {
  service = await startService({
    fetch: globalThis.fetch,
    sleep: noSleep,
    logger: logs.logger,
    timeouts: waitTimeouts.timeouts,
    arrange: async (world) => {
      proxy = await startRpcProxy(world.chains.on(1).rpcUrl);
      return { RPC_URL_1: proxy.url };
    },
  });
});
afterAll(async () => {
  await service?.stop();
  await proxy?.stop();
});

const chain = () => service.world.chains.on(1);
const STEP_SEC = 60;

/** Let time pass on the clock and on both chains. */
async function pass(seconds = STEP_SEC): Promise<void> {
  service.clock.advance(seconds * 1_000);
  for (const chainId of [1, 4663]) {
    const on = service.world.chains.on(chainId);
    const { timestamp } = await on.client.getBlock();
    await on.increaseTime(Math.max(1, Math.floor(service.clock.now() / 1_000) - Number(timestamp)));
  }
}

describe('a node that fails', () => {
  const MODES: readonly (readonly [string, ProxyMode])[] = [
    ['cuts the line', { kind: 'down' }],
    ['never answers', { kind: 'hang' }],
    ['answers 500', { kind: 'status', status: 500 }],
    ['answers 429', { kind: 'status', status: 429 }],
    ['answers garbage', { kind: 'garbage' }],
  ];
  test.each(MODES)(
    '%s: last-good with its true age, no effect on the other chain, immediate recovery',
    async (_, mode) => {
      proxy.set({ kind: 'pass' });
      await pass();
      await service.refresh('lending-state', 'collateral-apy-onchain:1');
      const before = await observe(service, READS);
      const other = await observe(service, OTHER_CHAIN);
      logs.take();

      await pass();
      proxy.set(mode);
      waitTimeouts.endFor(mode.kind);
      proxy.taken();
      await Promise.all([service.refresh('lending-state:1'), service.refresh('lending-state:1')]);
      // Joined: one round of at most 3 requests, of which the first fails and is tried once more.
      expect(proxy.taken()).toBeLessThanOrEqual(2);
      await service.refresh('collateral-apy-onchain:1');
      waitTimeouts.restore();
      const during = await observe(service, READS);
      expect(during.statuses).toEqual([200, 200]);
      expect(differences(before.answers, during.answers)).toEqual([]);
      for (const group of ['1 lendingState', '1 oracle', '1 collateralApy onchain']) {
        const [was, is] = [before.groups.get(group), during.groups.get(group)];
        expect([group, is?.items, is?.asOf, is?.status]).toEqual([group, was?.items, was?.asOf, 'FAILING']);
        expect(is?.itemsAtLastGood).toBe(is?.items);
        const trueAgeSec = (service.clock.now() - Date.parse(is?.asOf ?? '')) / 1_000;
        expect(is?.ageSec).toBe(Math.floor(trueAgeSec));
        expect(is?.ageSec).toBeGreaterThan(was?.ageSec ?? 0);
      }
      const untouched = await observe(service, OTHER_CHAIN);
      expect(differences(other.answers, untouched.answers)).toEqual([]);
      expect((await service.get('/ready')).status).toBe(200);
      const text = [...during.texts, ...logs.take()].join('\n');
      expect(text).not.toContain(proxy.url);
      expect(text).not.toContain('node te');

      proxy.set({ kind: 'pass' });
      await service.refresh('lending-state:1', 'collateral-apy-onchain:1');
      const after = await observeGroups(service);
      for (const group of ['1 lendingState', '1 oracle', '1 collateralApy onchain']) {
        expect([group, after.get(group)?.status]).toEqual([group, 'FRESH']);
        expect(Date.parse(after.get(group)?.asOf ?? '')).toBeGreaterThan(
          Date.parse(before.groups.get(group)?.asOf ?? ''),
        );
      }
    },
  );

  test('a refresh of a chain is 3 requests for up to a hundred markets', async () => {
    proxy.set({ kind: 'pass' });
    proxy.taken();
    await service.refresh('lending-state:1');
    expect(proxy.taken()).toBe(3);
  });

  test('rejects an older block', async () => {
    const behind = await chain().client.getBlockNumber();
    await pass();
    await service.refresh('lending-state:1');
    const before = await observe(service, READS);
    proxy.set({ kind: 'lag', blockNumber: behind });
    await service.refresh('lending-state:1');
    const during = await observe(service, READS);
    expect(differences(before.answers, during.answers)).toEqual([]);
    expect(during.groups.get('1 lendingState')?.failing[0]?.reason).toBe('implausible');
    proxy.set({ kind: 'pass' });
    await service.refresh('lending-state:1');
    expect((await observeGroups(service)).get('1 lendingState')?.status).toBe('FRESH');
  });

  test('readiness ends 15 minutes past the budget, and reads continue with staleForSec', async () => {
    await pass();
    await service.refresh('lending-state');
    proxy.set({ kind: 'down' });
    const { asOf: measuredAt } = (await service.get(`/v1/strategies/${SUSDE_PYUSD}`)).body.freshness.borrow;
    service.clock.advance(Date.parse(measuredAt) + (300 + 900) * 1_000 - service.clock.now());
    await service.refresh('lending-state:4663');
    expect((await service.get('/ready')).status).toBe(200);
    service.clock.advance(1_000);
    const ready = await service.get('/ready');
    expect(ready.status).toBe(503);
    expect(ready.body.chains[0]).toMatchObject({ chainId: 1, ready: false, waitingFor: ['lendingState'] });
    const { status, body } = await service.get(`/v1/strategies/${SUSDE_PYUSD}`);
    expect(status).toBe(200);
    expect(body.freshness.borrow).toEqual({ asOf: measuredAt, staleAfterSec: 300, staleForSec: 901 });
    const { body: graphql } = await service.graphql(
      `{ strategy(id: "${SUSDE_PYUSD}") { freshness { borrow { asOf staleForSec ageSec } } } }`,
    );
    expect(graphql.data.strategy.freshness.borrow.asOf).toBe(measuredAt);
    proxy.set({ kind: 'pass' });
    await pass(1);
    await service.refresh('lending-state');
    expect((await service.get('/ready')).status).toBe(200);
    const healed = await service.get(`/v1/strategies/${SUSDE_PYUSD}`);
    expect(healed.body.freshness.borrow).not.toHaveProperty('staleForSec');
  });
});

describe('a contract that fails', () => {
  /** Put other code at an address, look, and put the first back. */
  async function broken(address: `0x${string}`, look: () => Promise<void>, code: `0x${string}` = REVERTING) {
    const good = (await chain().client.getCode({ address })) ?? '0x';
    await chain().client.setCode({ address, bytecode: code });
    try {
      await pass();
      await service.refresh('lending-state:1');
      await look();
    } finally {
      await chain().client.setCode({ address, bytecode: good });
    }
    await pass();
    await service.refresh('lending-state:1');
    const groups = await observeGroups(service);
    expect(groups.get('1 oracle')?.status).toBe('FRESH');
    expect(groups.get('1 lendingState')?.status).toBe('FRESH');
  }
  const marketOf = (body: Json, id: string) => body.markets.find((market: Json) => market.id === id);

  test.each([
    ['reverts', REVERTING, 'reverted'],
    // PUSH1 32 PUSH1 0 RETURN: one word of zeros.
    ['says zero', '0x60206000f3', 'implausible'],
    ['is gone', '0x', 'malformed'],
    // Half a word.
    ['says too little', '0x60106000f3', 'malformed'],
  ] as const)('only the oracle that %s stays at last-good', async (_, code, reason) => {
    await service.refresh('lending-state:1');
    const before = (await service.get('/v1/app/markets')).body;
    const { oracle } = chain().market(SUSDE_PYUSD);
    await broken(
      oracle,
      async () => {
        const { status, body } = await service.get('/v1/app/markets');
        expect(status).toBe(200);
        expect(body.count).toBe(before.count);
        for (const market of body.markets) {
          if (market.chainId !== 1) continue;
          const was = marketOf(before, market.id);
          if (market.oracle.address === oracle) expect(market.oracle).toEqual(was.oracle);
          else expect(Date.parse(market.oracle.asOf)).toBeGreaterThan(Date.parse(was.oracle.asOf));
          expect(Date.parse(market.state.asOf)).toBeGreaterThan(Date.parse(was.state.asOf));
        }
        const row = (await observeGroups(service)).get('1 oracle');
        expect(row?.failing.map(({ key, reason: why }) => [key, why])).toEqual([[oracle, reason]]);
      },
      code,
    );
  });

  test('a reverting interest-rate model keeps market state at last-good, and oracles refresh', async () => {
    await service.refresh('lending-state:1');
    const before = (await service.get('/v1/app/markets')).body;
    const { irm } = chain().market(SUSDE_PYUSD);
    await broken(irm, async () => {
      const { status, body } = await service.get('/v1/app/markets');
      expect(status).toBe(200);
      for (const market of body.markets) {
        if (market.chainId !== 1) continue;
        const was = marketOf(before, market.id);
        expect(market.state).toEqual(was.state);
        expect(market.borrowApyPct).toEqual(was.borrowApyPct);
        expect(Date.parse(market.oracle.asOf)).toBeGreaterThan(Date.parse(was.oracle.asOf));
      }
      expect((await service.get('/ready')).status).toBe(200);
    });
  });

  test('a missing lending protocol does not show markets without supply', async () => {
    await service.refresh('lending-state:1');
    const before = (await service.get('/v1/app/markets')).body;
    await broken(
      chain().chain.contracts.morphoBlue,
      async () => {
        const { status, body } = await service.get('/v1/app/markets');
        expect(status).toBe(200);
        for (const market of body.markets) {
          if (market.chainId === 1) expect(market.state).toEqual(marketOf(before, market.id).state);
        }
      },
      '0x',
    );
  });

  test('shows a fully drained market without listing it', async () => {
    const { client, openMorphoPosition, market } = chain();
    const drained = market(SUSDE_PYUSD);
    await service.refresh('lending-state:1');
    const { body } = await service.get('/v1/app/markets');
    const liquidity = BigInt(marketOf(body, drained.id).liquidityAssets.$bigint);
    const account = '0x00000000000000000000000000000000000d4a13' as const;
    await client.setBalance({ address: account, value: parseEther('10') });
    const snapshot = await chain().snapshot();
    await openMorphoPosition(drained, { account, collateral: parseEther('900000000'), borrowed: liquidity - 1_000n });
    await service.refresh('lending-state:1');
    const strategy = await service.get(`/v1/strategies/${drained.id}`);
    expect(strategy.body.utilizationPct).toBe('100.00');
    expect(strategy.body.liquidityUsd).toBeLessThan(1_000);
    const listed = await service.get('/v1/strategies');
    expect(listed.body.strategies.some(({ id }: Json) => id === drained.id)).toBe(false);
    const { body: graphql } = await service.graphql(
      `{ strategy(id: "${drained.id}") { visibility { listed checks { rule passed value threshold } } } }`,
    );
    const { listed: isListed, checks } = graphql.data.strategy.visibility;
    expect(isListed).toBe(false);
    expect(checks.filter(({ passed }: Json) => !passed).map(({ rule }: Json) => rule)).toEqual(['LIQUIDITY']);
    await chain().revert(snapshot);
  });
});

test('an unknown chain stays a bad request during failures', async () => {
  proxy.set({ kind: 'down' });
  expectEnvelope(await service.get('/v1/strategies?chainId=10'), 400, 'bad_request');
  proxy.set({ kind: 'pass' });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fault, Provider } from '../../../devnet/upstreams/index.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { CHAIN_IDS } from '../known.ts';

/*
 * Every client error of every provider, one after another and all together: no strategy leaves the list, no value is made up, and
 * /health names every cause.
 */

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
}, 60_000);
afterAll(() => service?.stop());

const STATUSES = [400, 401, 402, 403, 404, 405, 408, 409, 410, 418, 422, 425, 429, 451];
const reasonOf = (status: number) => (status === 429 ? 'rate_limited' : status === 408 ? 'timeout' : 'rejected');
const meaningOf = (status: number) => (status === 429 || status === 408 ? 'not_now' : 'our_mistake');

/** Providers by their public names, with the warmers that ask them. */
const ROWS: readonly (readonly [Provider, string, readonly string[]])[] = [
  ['pendle', 'yieldmarket', ['collateral-apy-yieldmarket']],
  ['defillama-yields', 'aggregator', ['collateral-apy-aggregator']],
  ['royco', 'incentivemarket', ['collateral-apy-incentivemarket']],
  ['stablewatch', 'stableindex', ['stable-index']],
  ['merkl', 'incentives', ['incentives', 'incentive-history']],
  ['coingecko', 'coingecko', ['prices']],
  ['kyberswap', 'AggregatorOne', ['exit-liquidity:4663']],
  ['morpho', 'indexer', ['shared-liquidity', 'borrow-history']],
];

/** The listed strategies with the values that providers decide. */
async function listed(): Promise<readonly unknown[]> {
  const lists = await Promise.all(CHAIN_IDS.map((chainId) => service.get(`/v1/strategies?chainId=${chainId}`)));
  return lists.flatMap(({ body }) =>
    body.strategies.map((strategy: Json) => [
      strategy.id,
      strategy.collateralApyPct,
      strategy.netBorrowApyPct,
      strategy.totalCollateralApyPct,
      strategy.borrowIncentive,
      strategy.noSwapRoute,
      strategy.exitLiquidity?.slippagePct,
      strategy.collateral.priceUsd,
    ]),
  );
}

const health = async (): Promise<Json> => (await service.get('/health')).body;
const answer = (status: number, body: unknown = { message: 'a refusal' }): Fault => ({ kind: 'answer', status, body });

async function run(warmers: readonly string[]): Promise<void> {
  // The budgets of requests fill again.
  service.clock.advance(20_000);
  for (const warmer of warmers) await service.refresh(warmer);
}

/** Heal everything and measure it anew. */
async function heal(): Promise<void> {
  service.world.upstreams.faults.clear();
  await measure();
}

/** Let the chains catch up with the clock, and measure everything. */
async function measure(): Promise<void> {
  for (const chainId of CHAIN_IDS) {
    const chain = service.world.chains.on(chainId);
    const { timestamp } = await chain.client.getBlock();
    const lagSec = Math.floor(service.clock.now() / 1_000) - Number(timestamp);
    if (lagSec > 0) await chain.increaseTime(lagSec);
  }
  await service.refresh('lending-state', 'prices');
  await run(ROWS.flatMap(([, , warmers]) => warmers));
}

test.each(ROWS)(
  '%s: every client error is named with its cause, and removes nothing',
  async (provider, name, warmers) => {
    await heal();
    const before = await listed();
    expect(before.length).toBeGreaterThan(10);
    for (const status of STATUSES) {
      service.world.upstreams.faults.set(provider, answer(status));
      await run(warmers);
      expect([status, await listed()]).toEqual([status, before]);
      const state = (await health()).providers.find((row: Json) => row.provider === name && row.status === 'failing');
      expect([status, state?.reason, state?.meaning], JSON.stringify(state)).toEqual([
        status,
        reasonOf(status),
        meaningOf(status),
      ]);
      expect(state.failures[0]).toMatchObject({ httpStatus: String(status), reason: reasonOf(status) });
    }
  },
);

test.each([
  [400, { code: 4004, message: 'invalid value' }, '4004'],
  [404, { message: 'page not found' }, undefined],
  [422, { code: 4222 }, '4222'],
])(
  'behavior: %s %j of one chain of the swap venue is named with its part, and its strategies stay',
  async (status, body, code) => {
    await heal();
    const before = await listed();
    service.world.upstreams.faults.set('kyberswap', answer(status, body), { path: '/robinhood/' });
    for (let again = 0; again < 4; again += 1) await run(['exit-liquidity:4663']);
    await run(['exit-liquidity:1']);
    expect(await listed()).toEqual(before);
    const { providers, degraded } = await health();
    const state = providers.find(({ part }: Json) => part === 'exit_sizes');
    expect(state.status).toBe('failing');
    expect(state.failures).toMatchObject([
      {
        subject: expect.stringContaining('(robinhood)'),
        meaning: 'our_mistake',
        httpStatus: String(status),
      },
    ]);
    expect(state.failures[0].code).toBe(code);
    expect(degraded).toContain('provider AggregatorOne (exit_sizes) refuses our requests');
  },
);

test.each([4008, 4010, 4011])(
  'behavior: code %s of the swap venue awaits further observations, which /health shows',
  async (code) => {
    await heal();
    const before = await listed();
    service.world.upstreams.faults.set('kyberswap', answer(400, { code }));
    for (let again = 0; again < 4; again += 1) await run(['exit-liquidity:4663', 'exit-liquidity:1']);
    expect(await listed()).toEqual(before);
    const { chains } = await health();
    for (const { unconfirmed } of chains) {
      const ofRoutes = unconfirmed.filter(({ group }: Json) => group === 'exitLiquidity');
      expect(ofRoutes.length).toBeGreaterThan(0);
      for (const row of ofRoutes) expect(row).toMatchObject({ source: 'AggregatorOne', value: '100', observations: 1 });
    }
  },
);

test('behavior: all providers together, with every status: the list stays, and every provider is named', async () => {
  await heal();
  const before = await listed();
  for (const status of STATUSES) {
    service.world.upstreams.faults.set('all', answer(status));
    await run(ROWS.flatMap(([, , warmers]) => warmers));
    expect([status, await listed()]).toEqual([status, before]);
    const failing = (await health()).providers.filter((row: Json) => row.status === 'failing');
    const named = new Set(failing.map(({ provider }: Json) => provider));
    for (const [, name] of ROWS) expect([status, [...named]]).toEqual([status, expect.arrayContaining([name])]);
    for (const { reason } of failing) expect([status, reason]).toEqual([status, reasonOf(status)]);
  }
});

test('behavior: an index that answers zero averages, again and again, removes nothing', async () => {
  await heal();
  const idsOf = (rows: readonly unknown[]) => rows.map((row) => (row as readonly unknown[])[0]).toSorted();
  const before = idsOf(await listed());
  service.world.upstreams.faults.set('stablewatch', { kind: 'fields', set: { avg7d: 0 } });
  for (let again = 0; again < 4; again += 1) await run(['stable-index']);
  expect(idsOf(await listed())).toEqual(before);
});

test('behavior: campaigns for one wallet are in no APY, and shown apart with reason and end', async () => {
  await heal();
  const strategies = async (): Promise<readonly Json[]> => (await service.get('/v1/strategies')).body.strategies;
  const paid = (await strategies()).filter(({ borrowIncentive }) => borrowIncentive !== null);
  expect(paid.length).toBeGreaterThan(0);
  service.world.upstreams.faults.set('merkl', { kind: 'fields', set: { whitelist: [`0x${'11'.repeat(20)}`] } });
  await run(['incentives']);
  service.clock.advance(1_800_000);
  await measure();
  const after = new Map((await strategies()).map((strategy) => [strategy.id, strategy]));
  for (const { id, borrowIncentive: before, borrowApyPct } of paid) {
    const { borrowIncentive, netBorrowApyPct } = after.get(id) ?? {};
    expect(borrowIncentive).toMatchObject({ aprPct: '0.00', breakdown: [], endsAt: before.endsAt });
    expect(borrowIncentive.restricted).toEqual(
      expect.arrayContaining([expect.objectContaining({ reason: 'whitelist', endsAt: before.endsAt })]),
    );
    expect(Math.abs(Number(netBorrowApyPct) - Number(borrowApyPct))).toBeLessThan(0.02);
  }
});

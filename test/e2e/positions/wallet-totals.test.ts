import { afterAll, beforeAll, expect, it } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';

/* A total that lacks something is unknown, with the reason; a wallet without anything has zeros. */

const SUMS = ['openCount', 'collateralUsd', 'debtUsd', 'equityUsd', 'badDebtUsd'];
const TOTALS = `totals { ${SUMS.join(' ')} netApyPct nearestLiquidation { priceDropToLiquidationPct ltvHeadroomPct healthFactor position { positionIndex } }
  pnl { netValueUsd totalUsd gaps { field reason } } gaps { field reason message } }`;
const HOLDER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const EMPTY = untouchedAccounts[0]?.address ?? '';

let proxy: RpcProxy;
let service: TestService;

beforeAll(async () => {
  service = await startService({
    fetch: globalThis.fetch,
    sleep: noSleep,
    before: ({ upstreams }) => {
      for (const provider of ['coingecko', 'defillama-coins'] as const)
        upstreams.faults.set(provider, { kind: 'status', status: 500 });
    },
    arrange: async (world) => {
      proxy = await startRpcProxy(world.chains.on(4663).rpcUrl);
      return { RPC_URL_4663: proxy.url };
    },
  });
});
afterAll(async () => {
  await service?.stop();
  await proxy?.stop();
});

async function walletOf(address: string): Promise<Json> {
  const query = `query ($address: Address!) { wallet(address: $address) { ${TOTALS} missingChains { chainId } onChains { chainId ${TOTALS} } } }`;
  const { body } = await service.graphql<Json>(query, { address }, PARTNER);
  expect(body.errors).toBeUndefined();
  return body.data.wallet;
}
const absent = (totals: Json) => SUMS.filter((name) => totals[name] === null);
const reasons = ({ gaps }: Json): Json => Object.fromEntries(gaps.map(({ field, reason }: Json) => [field, reason]));

it('behavior: without prices every USD sum is unknown, and what needs no price is known', async () => {
  const { totals } = await walletOf(HOLDER);
  expect(absent(totals)).toEqual(['collateralUsd', 'debtUsd', 'equityUsd', 'badDebtUsd']);
  expect(totals).toMatchObject({ openCount: 4, netApyPct: null, pnl: { netValueUsd: null, totalUsd: null } });
  expect(totals.nearestLiquidation.healthFactor).toMatch(/^1\.\d+$/);
  const explained = reasons(totals);
  for (const field of [...absent(totals), 'netApyPct']) expect(explained[field], field).toBe('SOURCE_FAILED');
  expect(totals.gaps[0].message).toMatch(/price of \w+, the loan token of position \d+, is unknown/);
  expect(totals.pnl.gaps).toContainEqual({ field: 'netValueUsd', reason: 'NOT_MEASURED' });
});

it('behavior: an empty wallet has zeros, no APY and nothing near a liquidation', async () => {
  service.world.upstreams.faults.clear();
  await service.refresh('prices');
  const { totals } = await walletOf(EMPTY);
  expect(totals).toMatchObject({
    openCount: 0,
    collateralUsd: '0.00',
    debtUsd: '0.00',
    equityUsd: '0.00',
    badDebtUsd: '0.00',
    netApyPct: null,
    nearestLiquidation: null,
    pnl: { netValueUsd: '0', totalUsd: '0' },
  });
  expect(reasons(totals)).toEqual({ netApyPct: 'NOT_APPLICABLE', nearestLiquidation: 'NONE' });
});

it('behavior: a chain that cannot be read makes every total unknown, and those of the others are there', async () => {
  const whole = await walletOf(HOLDER);
  expect(absent(whole.totals)).toEqual([]);
  proxy.set({ kind: 'down' });
  const { totals, onChains, missingChains } = await walletOf(HOLDER);
  proxy.set({ kind: 'pass' });
  expect(missingChains).toEqual([{ chainId: 4663 }]);
  expect(absent(totals)).toEqual(SUMS);
  expect(totals).toMatchObject({ netApyPct: null, nearestLiquidation: null, pnl: { netValueUsd: null } });
  for (const field of [...SUMS, 'netApyPct', 'nearestLiquidation'])
    expect(reasons(totals)[field], field).toBe('SOURCE_FAILED');
  expect(totals.gaps[0].message).toContain('chain 4663');
  expect(onChains).toEqual([whole.onChains[0]]);
});

it('behavior: the net value of a portfolio is where one looks for it', async () => {
  const query = `query ($address: Address!) { ops { portfolio(address: $address, chainId: 1) { netValueUsd pnl { netValueUsd } } } }`;
  const { body } = await service.graphql<Json>(query, { address: HOLDER }, { authorization: 'Bearer local-ops' });
  const { netValueUsd, pnl } = body.data.ops.portfolio;
  expect(Number(netValueUsd)).toBeGreaterThan(0);
  expect(netValueUsd).toBe(pnl.netValueUsd);
});

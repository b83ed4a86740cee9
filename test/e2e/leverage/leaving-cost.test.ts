import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { prove } from '../../../packages/client/src/index.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import type { Hex } from '../../../src/shared/ids.ts';
import { type AdversarialVenues, startAdversarialVenues } from '../../support/adversarial-venues.ts';
import { passing } from '../../support/equity.ts';
import { manageVariables } from '../../support/partner-inputs.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { account, user } from '../../support/vaults.ts';
import { marketOf, type Partner, partnerOn } from './support.ts';

/* Leaving has one bound: 1 % of each sale and 5 % of the equity together, unless maxSwapLossPct accepts more. */

const MANAGE = '/v1/partner/manage/build';
const market = marketOf(4663, 'syrupUSDG/USDG 91.5');
let service: TestService;
let venues: AdversarialVenues;
let partner: Partner;
let state: Hex;

beforeAll(async () => {
  service = await startService({
    sleep: passing(() => service),
    arrange: async (world) => {
      venues = await startAdversarialVenues(world);
      return venues.env;
    },
  });
  partner = partnerOn(service, 4663, account);
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await venues?.stop();
});
beforeEach(async () => {
  state = await service.world.chains.on(4663).snapshot();
});
afterEach(async () => {
  venues.clear();
  await service.world.chains.on(4663).revert(state);
});

async function opened(leverage: number): Promise<number> {
  const id = await partner.nextId();
  const body = { strategyId: market.id, payToken: market.collateral.address, amount: '1000', leverage };
  await partner.send(await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user }));
  return id;
}

const takes = (ppm: bigint) => venues.lie('kyberswap', { kind: 'low', ppm });
const post = (body: Json) => service.post(MANAGE, { chainId: 4663, userAddress: user, ...body }, PARTNER);
const equityOf = async (id: number) => {
  const { collateral, debt } = await partner.position(market, id);
  const price = await service.world.chains.on(4663).oraclePrice(market);
  return new Decimal(((collateral * price) / 10n ** 36n - debt).toString()).shiftedBy(-market.loan.decimals);
};
const highCost = ({ meta }: Json) => meta.issues.find(({ kind }: Json) => kind === 'high_cost');
const MANAGED = `mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) {
  ... on LeveragePlan { minTokenOut issues { kind message costUsd costPctOfEquity } }
  ... on LimitExceededRefusal { message limits { name value } } } }`;
/** The proof of a built plan by the client, with its own readings and default limits. */
const proven = (body: Json, plan: Json) => {
  const { client } = partner;
  const node = { request: (request: object) => client.request(request as never) };
  const input = { chainId: 4663, userAddress: user, ...body } as never;
  return prove(plan as never, node as never, { account: user, request: { row: 'manageBuild', input } });
};
const overGraphql = async (body: Json): Promise<Json> => {
  const variables = manageVariables({ chainId: 4663, userAddress: user, ...body });
  return (await service.graphql(MANAGED, { ...variables }, PARTNER)).body.data.manageLeveragePlan;
};

it('error: a close that costs a tenth of the equity is refused, and the number of the refusal builds it', async () => {
  const id = await opened(10.5);
  takes(9_500n);
  const body = { id, action: 'close' };
  const { status, body: refused } = await post(body);
  expect([status, refused.error?.code]).toEqual([400, 'bad_request']);
  const { limit } = refused.error.details;
  expect(limit.maxTotalLossPct).toBe('5');
  expect(Number(limit.maxSwapLossPct)).toBeGreaterThan(9);
  expect(Number(limit.maxSwapLossPct)).toBeLessThan(11);
  expect(refused.error.message).toContain(`${limit.costUsd} USD`);
  expect(refused.error.message).toContain(`maxSwapLossPct ${limit.maxSwapLossPct}`);
  // A smaller part costs the same share: it is no way out.
  expect(limit.amount).toBeUndefined();
  expect((await overGraphql(body)).limits).toContainEqual({ name: 'maxSwapLossPct', value: limit.maxSwapLossPct });

  const accepted = { ...body, maxSwapLossPct: Number(limit.maxSwapLossPct) };
  const built = await post(accepted);
  expect(built.status, built.text).toBe(200);
  const issue = highCost(built.body);
  expect(issue).toMatchObject({ costPctOfEquity: limit.maxSwapLossPct, costUsd: limit.costUsd });
  expect(issue.message).toContain('% of the equity');
  expect(built.body.meta.instructions).toContain(issue.message);
  const { highCost: proof } = await proven(accepted, built.body);
  expect(Math.abs(Number(proof?.ofEquityPct) - Number(limit.maxSwapLossPct))).toBeLessThan(0.1);
  // Without the consent the client refuses what the service refuses.
  await expect(proven(body, built.body)).rejects.toThrow('slippage and maxTotalLoss allow');
  const { issues } = await overGraphql(accepted);
  expect(issues.find(({ kind }: Json) => kind === 'HIGH_COST')).toMatchObject({ message: issue.message });
  const equity = await equityOf(id);
  const before = await partner.balance(market.loan);
  await partner.send(built.body);
  const paid = new Decimal(((await partner.balance(market.loan)) - before).toString()).shiftedBy(-market.loan.decimals);
  expect(equity.minus(paid).times(100).div(equity).lte(limit.maxSwapLossPct)).toBe(true);
});

it.each([
  [3, {}, undefined],
  [4, {}, 2],
  [10.5, { amount: '4000' }, 2],
])('behavior: at %sx with %o the issue is there from 2 percent of the equity on', async (leverage, fields, from) => {
  const id = await opened(leverage);
  takes(6_000n);
  const { status, body, text } = await post({ id, action: 'close', ...fields });
  expect(status, text).toBe(200);
  const issue = highCost(body);
  if (from === undefined) expect(issue).toBeUndefined();
  else expect(Number(issue.costPctOfEquity)).toBeGreaterThanOrEqual(from);
  expect(Number(body.meta.positionPreview.totalSwapCostPctOfEquity) >= 2).toBe(issue !== undefined);
  const proof = await proven({ id, action: 'close', ...fields }, body);
  expect(proof.highCost !== undefined).toBe(issue !== undefined);
});

it('behavior: above the max LTV leaving may cost as much as a liquidation would', async () => {
  const id = await opened(10.5);
  const local = service.world.chains.on(4663);
  await local.moveOracle(market, '-1');
  // 91.4 %: a liquidation takes 2.6 % of the debt, about a quarter of the equity.
  takes(20_000n);
  const { status, body, text } = await post({ id, action: 'close' });
  expect(status, text).toBe(200);
  expect(Number(highCost(body).costPctOfEquity)).toBeGreaterThan(5);
  expect((await proven({ id, action: 'close' }, body)).highCost).toBeDefined();
  await partner.send(body);
  expect((await partner.position(market, id)).open).toBe(false);
});

it('behavior: a closing may give up everything that is left, with consent', async () => {
  const id = await opened(10.5);
  takes(80_000n);
  const { status, body: refused } = await post({ id, action: 'close' });
  expect(status).toBe(400);
  const { maxSwapLossPct } = refused.error.details.limit;
  expect(Number(maxSwapLossPct)).toBeGreaterThan(80);
  const built = await post({ id, action: 'close', maxSwapLossPct: Number(maxSwapLossPct) });
  expect(built.status, built.text).toBe(200);
  await proven({ id, action: 'close', maxSwapLossPct: Number(maxSwapLossPct) }, built.body);
  await partner.send(built.body);
  const above = await post({ id, action: 'close', maxSwapLossPct: 100.01 });
  expect(above.body.error.details.limit).toMatchObject({ maxSwapLossPct: '100' });
});

it('behavior: the rounding of a venue is no loss', async () => {
  const id = await opened(3);
  for (const amount of ['0.00001', '0.000022', '0.0003']) {
    const { status, text, body } = await post({ id, action: 'close', amount });
    expect(status, `${amount}: ${text}`).toBe(200);
    await proven({ id, action: 'close', amount }, body);
  }
});

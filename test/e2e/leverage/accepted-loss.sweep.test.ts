import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import {
  type AdversarialProvider,
  type AdversarialVenues,
  startAdversarialVenues,
} from '../../support/adversarial-venues.ts';
import { equityVerbs, passing } from '../../support/equity.ts';
import { manageVariables } from '../../support/partner-inputs.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { account, user } from '../../support/vaults.ts';
import { marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

/*
 * `maxSwapLossPct` on every path that swaps: a venue that takes more than the usual bounds is refused with the number that
 * would do, built with exactly that number, and executed; and no request may allow more than its path's largest.
 */

const MANAGE = '/v1/partner/manage/build';
const market = marketOf(4663, 'syrupUSDG/USDG 91.5');
const shareholder = seededWallet('shareholder').account.address;
let service: TestService;
let venues: AdversarialVenues;
let partner: Partner;

beforeAll(async () => {
  service = await startService({
    sleep: passing(() => service),
    arrange: async (world) => {
      venues = await startAdversarialVenues(world);
      return venues.env;
    },
  });
  partner = partnerOn(service, 4663, account);
});
afterAll(async () => {
  await service?.stop();
  await venues?.stop();
});
afterEach(() => venues.clear());

const post = (path: string, body: object) => service.post(path, { chainId: 4663, ...body }, PARTNER);

/** Refused at the usual bounds, and built with the number of the refusal. @returns the built answer */
async function accepted(
  path: string,
  body: Json,
  ppm: bigint,
  provider: AdversarialProvider = 'kyberswap',
): Promise<Json> {
  venues.lie(provider, { kind: 'low', ppm });
  const refused = await post(path, body);
  expect([refused.status, refused.body.error?.code], refused.text).toEqual([400, 'bad_request']);
  const passes = Number(refused.body.error.details.limit.maxSwapLossPct);
  expect(passes, refused.text).toBeGreaterThan(0);
  const less = await post(path, { ...body, maxSwapLossPct: Number((passes * 0.9).toFixed(2)) });
  expect(less.status, less.text).toBe(400);
  const built = await post(path, { ...body, maxSwapLossPct: passes });
  expect(built.status, built.text).toBe(200);
  return built.body;
}

async function expectLargest(path: string, body: Json, largest: number): Promise<void> {
  const refused = await post(path, { ...body, maxSwapLossPct: largest + 0.01 });
  expect(refused.status).toBe(400);
  expect(refused.body.error.details).toMatchObject({
    field: 'body.maxSwapLossPct',
    limit: { maxSwapLossPct: String(largest) },
  });
}

async function opened(): Promise<number> {
  const id = await partner.nextId();
  const body = { strategyId: market.id, payToken: market.collateral.address, amount: '2000', leverage: 3 };
  await partner.send(await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user }));
  return id;
}

const usde = tokenOf(4663, 'USDe');

it.each([
  ['close', {}, 100],
  ['close', { amount: '500' }, 100],
  ['repay', { amount: '50', payToken: usde.address }, 50],
  ['add_collateral', { amount: '50', payToken: usde.address }, 10],
  ['increase_leverage', { leverage: 4 }, 10],
] as const)('behavior: %s (%#) executes with the accepted loss, up to the maximum', async (action, fields, largest) => {
  const id = await opened();
  const before = await partner.position(market, id);
  const body = { userAddress: user, id, action, ...fields };
  const bundle = await accepted(MANAGE, body, 30_000n);
  await expectLargest(MANAGE, body, largest);
  await partner.send(bundle);
  const after = await partner.position(market, id);
  expect([after.collateral, after.debt]).not.toEqual([before.collateral, before.debt]);
  expect(after.open).toBe(action !== 'close' || 'amount' in fields);
});

it.each([market.collateral, usde])(
  'behavior: an open paid with $symbol executes with the accepted loss, up to 10',
  async ({ address: payToken }) => {
    const id = await partner.nextId();
    const body = { strategyId: market.id, payToken, amount: '500', leverage: 3, userAddress: user };
    const bundle = await accepted('/v1/partner/leverage/build', body, 15_000n);
    await expectLargest('/v1/partner/leverage/build', body, 10);
    const { userAddress: _, ...unsigned } = body;
    await expectLargest('/v1/partner/leverage/simulate', unsigned, 10);
    await partner.send(bundle);
    expect((await partner.position(market, id)).open).toBe(true);
  },
);

const MANAGED = `mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) {
  ... on LeveragePlan { minTokenOut } ... on LimitExceededRefusal { message limits { name value } } } }`;

/** The number of that name in the refusal of both surfaces, which has to be one. */
async function numberIn(body: Json, name: string): Promise<string> {
  const rest = await post(MANAGE, { userAddress: user, ...body });
  expect(rest.status, rest.text).toBe(400);
  const graphql = await manageOverGraphql(body);
  const { value } = graphql.limits.find((limit: Json) => limit.name === name);
  expect(rest.body.error.details.limit[name], rest.text).toBe(value);
  expect(rest.body.error.message).toContain(value);
  return value;
}

/** Built on both surfaces. */
async function expectBuilt(body: Json): Promise<Json> {
  const rest = await post(MANAGE, { userAddress: user, ...body });
  expect(rest.status, rest.text).toBe(200);
  expect(await manageOverGraphql(body)).toHaveProperty('minTokenOut');
  return rest.body;
}

async function manageOverGraphql(body: Json): Promise<Json> {
  const variables = manageVariables({ chainId: 4663, userAddress: user, ...body });
  return (await service.graphql(MANAGED, { ...variables }, PARTNER)).body.data.manageLeveragePlan;
}

it.each([
  ['close', {}, '100000'],
  ['repay', { amount: '50', payToken: usde.address }, '60'],
  ['add_collateral', { amount: '50', payToken: usde.address }, '60'],
  ['increase_leverage', { leverage: 4 }, '100000'],
])('behavior: the maxAmountOut in a refusal of %s passes as minAmountOut', async (action, fields, above) => {
  const body = { id: await opened(), action, ...fields };
  const least = await numberIn({ ...body, minAmountOut: above }, 'maxAmountOut');
  expect(Number(least)).toBeGreaterThan(0);
  await partner.send(await expectBuilt({ ...body, minAmountOut: least }));
});

it('behavior: the sufficientAmount in a refusal of a full repayment repays the whole debt', async () => {
  const id = await opened();
  const body = { id, action: 'repay', full: true, payToken: usde.address };
  const amount = await numberIn({ ...body, amount: '100' }, 'sufficientAmount');
  await service.world.chains.on(4663).mint(usde, user, units(amount, usde));
  await partner.send(await expectBuilt({ ...body, amount }));
  expect((await partner.position(market, id)).debt).toBe(0n);
});

it('behavior: a vault deposit executes with the accepted loss, up to 10', async () => {
  const vaults = equityVerbs(service);
  const spy = vaults.vault('SPY');
  const body = { strategyId: spy.id, amount: '3000', stockLtvPct: '20', userAddress: user };
  const path = '/v1/partner/equity/deposit/build';
  const { calls } = await accepted(path, body, 15_000n);
  await expectLargest(path, body, 10);
  await vaults.fund(user, spy, units('3000', spy.depositToken));
  await vaults.sendAtomically(user, calls);
  expect((await vaults.stockLeg(spy, user)).collateral > 0n).toBe(true);
});

it('behavior: a vault exit executes with the accepted loss, up to 100', async () => {
  const vaults = equityVerbs(service);
  const spy = vaults.vault('SPY');
  const body = { strategyId: spy.id, userAddress: shareholder };
  const path = '/v1/partner/equity/exit/build';
  const { calls } = await accepted(path, body, 30_000n);
  await expectLargest(path, body, 100);
  const before = await vaults.balance(spy.depositToken.address, shareholder);
  await vaults.sendAtomically(shareholder, calls);
  expect((await vaults.balance(spy.depositToken.address, shareholder)) > before).toBe(true);
  expect((await vaults.stockLeg(spy, shareholder)).collateral).toBe(0n);
});

it('behavior: the fields of an action include maxSwapLossPct and minAmountOut if it may swap', async () => {
  const takes = async (action: string) =>
    (await post(MANAGE, { userAddress: user, id: 0, action, leverage: 2, full: true })).body.error.details.limit.takes;
  for (const action of ['close', 'add_collateral', 'increase_leverage', 'repay']) {
    expect(await takes(action), action).toEqual(expect.arrayContaining(['maxSwapLossPct', 'minAmountOut']));
  }
  expect(await takes('borrow')).not.toContain('maxSwapLossPct');
});

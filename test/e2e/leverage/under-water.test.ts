import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Decimal } from '../../../src/shared/decimal.ts';
import type { Hex } from '../../../src/shared/ids.ts';
import { equityVerbs, passing } from '../../support/equity.ts';
import { manageVariables } from '../../support/partner-inputs.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { account, user } from '../../support/vaults.ts';
import { marketOf, type Partner, partnerOn } from './support.ts';

/* A payment into a position whose debt is above its collateral goes to the lenders first: every surface says how much of it. */

const MANAGE = '/v1/partner/manage/build';
const market = marketOf(4663, 'syrupUSDG/USDG 91.5');
const ADVICE = /repay some debt|add collateral first/i;
let service: TestService;
let partner: Partner;
let state: Hex;

beforeAll(async () => {
  service = await startService({ sleep: passing(() => service) });
  partner = partnerOn(service, 4663, account);
}, 120_000);
afterAll(() => service?.stop());
beforeEach(async () => {
  state = await service.world.chains.on(4663).snapshot();
});
afterEach(() => service.world.chains.on(4663).revert(state));

async function sunk(): Promise<number> {
  const local = service.world.chains.on(4663);
  await local.mint(market.collateral, user, 10_000n * 10n ** BigInt(market.collateral.decimals));
  await local.mint(market.loan, user, 100_000n * 10n ** BigInt(market.loan.decimals));
  const id = await partner.nextId();
  const body = { strategyId: market.id, payToken: market.collateral.address, amount: '1000', leverage: 10.5 };
  await partner.send(await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user }));
  await local.moveOracle(market, '-12');
  return id;
}
async function excessOf(id: number): Promise<Decimal> {
  const { collateral, debt } = await partner.position(market, id);
  const price = await service.world.chains.on(4663).oraclePrice(market);
  return new Decimal((debt - (collateral * price) / 10n ** 36n).toString()).shiftedBy(-market.loan.decimals);
}
const post = (body: Json) => service.post(MANAGE, { chainId: 4663, userAddress: user, ...body }, PARTNER);
const PLAN = `mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) {
  ... on LeveragePlan { instructions issues { kind message toLendersAmount costUsd } } ... on Refusal { message } } }`;

describe('a position under water', () => {
  it.each([
    ['repay', { amount: '300', payToken: market.loan.address }],
    ['repay', { amount: '5', payToken: market.loan.address }],
    ['repay', { full: true }],
    ['add_collateral', { amount: '250', payToken: market.collateral.address }],
  ])('behavior: %s %o carries the issue, with the part that goes to the lenders', async (action, fields) => {
    const id = await sunk();
    const excess = await excessOf(id);
    const body = { id, action, ...fields };
    const { status, body: built, text } = await post(body);
    expect(status, text).toBe(200);
    const issue = built.meta.issues.find(({ kind }: Json) => kind === 'under_water');
    const price = new Decimal((await service.world.chains.on(4663).oraclePrice(market)).toString()).shiftedBy(-36);
    const paid = 'full' in fields ? excess.plus(1) : new Decimal(fields.amount).times(action === 'repay' ? 1 : price);
    expect(new Decimal(issue.toLenders).minus(Decimal.min(paid, excess)).abs().lt('0.01')).toBe(true);
    expect(built.meta.instructions).toContain(issue.message);
    const variables = manageVariables({ chainId: 4663, userAddress: user, ...body });
    const graphql = (await service.graphql(PLAN, { ...variables }, PARTNER)).body.data.manageLeveragePlan;
    expect(graphql.issues).toContainEqual(
      expect.objectContaining({ kind: 'UNDER_WATER', toLendersAmount: issue.toLenders, costUsd: issue.costUsd }),
    );
  });

  it.each([
    ['close', {}],
    ['close', { exact: true }],
    ['close', { amount: '100' }],
    ['increase_leverage', { leverage: 3 }],
  ])('error: %s %o says what is true, and advises no payment', async (action, fields) => {
    const id = await sunk();
    const { status, body, text } = await post({ id, action, maxSwapLossPct: action === 'close' ? 100 : 10, ...fields });
    expect(status, text).toBe(400);
    expect(body.error.message).toContain('is above the value of the collateral');
    expect(body.error.message).toMatch(/does not have to pay the difference\.$/);
    expect(body.error.message).not.toMatch(ADVICE);
    expect(body.error.details.alternatives).toBeUndefined();
  });

  it('behavior: options, refusals and issues name one debt and one excess', async () => {
    const id = await sunk();
    const path = `/v1/partner/positions/${user}/${id}/deleverage-options?chainId=4663`;
    const { body } = await service.get(path, PARTNER);
    const { underWater, options } = body;
    const repay = options.find((option: Json) => option.action === 'repay');
    const issue = repay.preview.issues.find(({ kind }: Json) => kind === 'under_water');
    expect(issue.toLenders).toBe(underWater.excess);
    const { error } = (await post({ id, action: 'close' })).body;
    const fact = underWater.message.split(' Repaying')[0];
    expect([error.message.includes(fact), issue.message.includes(fact)]).toEqual([true, true]);
  });

  it('behavior: above water nothing of it is said', async () => {
    const id = await sunk();
    await service.world.chains.on(4663).moveOracle(market, '20');
    const { body } = await post({ id, action: 'repay', amount: '300', payToken: market.loan.address });
    expect(body.meta.issues.map(({ kind }: Json) => kind)).not.toContain('under_water');
  });
});

describe('a vault whose stock leg is under water', () => {
  it('behavior: the exit says what is true, and a deposit how much goes to the lenders', async () => {
    const verbs = equityVerbs(service);
    const spy = verbs.vault('SPY');
    await verbs.fund(user, spy, 20_000n * 10n ** BigInt(spy.depositToken.decimals));
    const deposit = { strategyId: spy.id, amount: '3000', userAddress: user };
    const { body: entered } = await service.post('/v1/partner/equity/deposit/build', deposit, PARTNER);
    await verbs.sendAtomically(user, entered.calls);
    await service.world.chains.on(4663).moveOracle(spy.stockMarket, '-80');
    const exit = await service.post(
      '/v1/partner/equity/exit/build',
      { strategyId: spy.id, userAddress: user },
      PARTNER,
    );
    expect(exit.status).toBe(400);
    expect(exit.body.error.message).toContain('does not have to pay the difference');
    expect(exit.body.error.message).not.toMatch(ADVICE);
    const body = { ...deposit, amount: '15000', stockLtvPct: '10' };
    const again = await service.post('/v1/partner/equity/deposit/build', body, PARTNER);
    expect(again.status, again.text).toBe(200);
    const issue = again.body.meta.issues.find(({ kind }: Json) => kind === 'under_water');
    expect(Number(issue.toLenders)).toBeGreaterThan(1);
  });
});

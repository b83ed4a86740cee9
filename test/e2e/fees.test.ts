import { afterAll, beforeAll, expect, it } from 'vitest';
import { TREASURY, untouchedAccounts } from '../../devnet/seed/accounts.ts';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import type { Market, Token } from '../../src/catalog/index.ts';
import { depositFeeOf } from '../../src/domain/leverage/fees.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../support/service.ts';
import { marketOf, type Partner, partnerOn, tokenOf, units } from './leverage-support.ts';

const CORRELATED = 'sUSDe/PYUSD 91.5';
const UNCORRELATED = 'WBTC/USDC 86';
const DEPOSIT_FEE = 10n ** 16n;
const YIELD_FEE = 10n ** 17n;
const WAD = 10n ** 18n;

let service: TestService;
let partner: Partner;
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;

/** Fees at their maximum and ten times the usual buffer. */
beforeAll(async () => {
  const deployment = { depositFee: DEPOSIT_FEE, yieldFee: YIELD_FEE, liquidationBuffer: 25n * 10n ** 15n };
  service = await startService({ sleep: noSleep, deployment });
  partner = partnerOn(service, 1, account);
}, 120_000);
afterAll(() => service?.stop());

const treasury = ({ address }: Token) =>
  partner.client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [TREASURY] });
const basisOf = async (id: number) =>
  (
    await partner.client.readContract({
      address: service.world.chains.on(1).chain.contracts.flashLeverage,
      abi: flashLeverageAbi,
      functionName: 'getUserLeveragePosition',
      args: [user, BigInt(id)],
    })
  ).amountDepositedInLoanToken;

/** What the treasury gets of a token while a bundle is sent. */
async function feeOf(token: Token, bundle: Json): Promise<bigint> {
  const before = await treasury(token);
  await partner.send(bundle);
  return (await treasury(token)) - before;
}

async function open(market: Market, payToken: Token, amount: string, desiredLtv: string) {
  const id = await partner.nextId();
  const body = { strategyId: market.id, payToken: payToken.address, amount, desiredLtv, userAddress: user };
  return { id, bundle: await partner.build('/v1/partner/leverage/build', body) };
}
const manage = (id: number, action: string, more: Json = {}) =>
  partner.build('/v1/partner/manage/build', { userAddress: user, id, action, ...more });

it('behavior: an opening is sized on what the deposit fee leaves', async () => {
  const market = marketOf(1, UNCORRELATED);
  const { id, bundle } = await open(market, market.collateral, '0.5', '60');
  expect(await feeOf(market.collateral, bundle)).toBe(depositFeeOf(units('0.5', market.collateral), DEPOSIT_FEE));
  expect(bundle.meta.instructions).toContain('0.005 WBTC');
  const { ltvPct } = await partner.position(market, id);
  expect(ltvPct.minus(60).abs().toNumber()).toBeLessThan(0.02);
  expect(Number(bundle.meta.positionPreview.effectiveLtv)).toBeCloseTo(ltvPct.toNumber(), 1);
});

it('behavior: added collateral, a repayment and a full repayment carry the deposit fee', async () => {
  const market = marketOf(1, UNCORRELATED);
  const { id, bundle } = await open(market, tokenOf(1, 'USDC'), '20000', '50');
  await partner.send(bundle);
  const before = await partner.position(market, id);
  const added = await manage(id, 'add_collateral', { amount: '0.1', payToken: market.collateral.address });
  expect(await feeOf(market.collateral, added)).toBe(units('0.001', market.collateral));
  const more = await partner.position(market, id);
  expect(more.collateral - before.collateral).toBe(units('0.099', market.collateral));

  const part = await manage(id, 'repay', { amount: '1000', payToken: market.loan.address });
  expect(await feeOf(market.loan, part)).toBe(units('10', market.loan));

  const { debt } = await partner.position(market, id);
  const whole = await manage(id, 'repay', { full: true, payToken: market.loan.address });
  const taken = await feeOf(market.loan, whole);
  expect(taken >= depositFeeOf(debt, DEPOSIT_FEE)).toBe(true);
  expect(await partner.position(market, id)).toMatchObject({ open: true, debt: 0n });
});

it('behavior: a full repayment with another token covers the deposit fee', async () => {
  const market = marketOf(1, UNCORRELATED);
  const { id, bundle } = await open(market, market.collateral, '0.3', '40');
  await partner.send(bundle);
  await partner.send(await manage(id, 'repay', { full: true, payToken: tokenOf(1, 'USDT').address }));
  expect(await partner.position(market, id)).toMatchObject({ open: true, debt: 0n });
});

it('behavior: withdrawing and closing say the yield fee that the treasury gets', async () => {
  const market = marketOf(1, CORRELATED);
  const { id, bundle } = await open(market, market.collateral, '1000', '70');
  expect(await feeOf(market.collateral, bundle)).toBe(0n);
  await service.world.chains.on(1).moveOracle(market, '4');
  const out = await manage(id, 'remove_collateral', { amount: '20' });
  const [, told = '0'] = /keeps ([\d.]+) sUSDe of the yield as its fee/.exec(out.meta.instructions) ?? [];
  expect(Number(told)).toBeCloseTo(2, 5);
  expect(await feeOf(market.collateral, out)).toBe(units(told, market.collateral));

  const basis = await basisOf(id);
  const before = await partner.balance(market.loan);
  const close = await manage(id, 'close');
  expect(close.meta.instructions).toMatch(/keeps about .+ PYUSD of the yield/);
  const fee = await feeOf(market.loan, close);
  const returned = (await partner.balance(market.loan)) - before + fee;
  expect(fee).toBe(((returned - basis) * YIELD_FEE) / WAD);
});

it('error: more than the basis is not lent on a correlated market', async () => {
  const market = marketOf(1, CORRELATED);
  const { id, bundle } = await open(market, market.collateral, '1000', '20');
  await partner.send(bundle);
  await service.world.chains.on(1).moveOracle(market, '60');
  const basis = await basisOf(id);
  const amount = (Number(basis) / 1e6 + 1).toFixed(6);
  const body = { chainId: 1, userAddress: user, id, action: 'borrow', amount };
  const refused = await service.post('/v1/partner/manage/build', body, PARTNER);
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatchObject({ code: 'bad_request', details: { field: 'body.amount' } });
  expect(units(refused.body.error.details.limit.maxAmount, market.loan)).toBe(basis);
  await partner.send(await manage(id, 'borrow', { amount: refused.body.error.details.limit.maxAmount }));
  expect(await basisOf(id)).toBe(0n);
});

it('error: what the buffer of the contract does not allow is refused, with its limit', async () => {
  const market = marketOf(1, CORRELATED);
  const body = { chainId: 1, strategyId: market.id, payToken: market.collateral.address, amount: '10' };
  const refused = await service.post('/v1/partner/leverage/simulate', { ...body, desiredLtv: '88.5' }, PARTNER);
  expect(refused.status).toBe(400);
  expect(refused.body.error.details.limit).toMatchObject({ maxLtvPct: '88.25' });
  const allowed = await service.post('/v1/partner/leverage/simulate', { ...body, desiredLtv: '88.25' }, PARTNER);
  expect(allowed.status, allowed.text).toBe(200);
});

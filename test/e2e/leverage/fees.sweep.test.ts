import { encodeAbiParameters, formatUnits, keccak256, numberToHex, pad } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TREASURY, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { erc20Abi } from '../../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import type { EquityVault, Market, Token } from '../../../src/catalog/index.ts';
import { depositFeeOf } from '../../../src/domain/leverage/fees.ts';
import { DEPOSIT_QUERY, equityVerbs, passing } from '../../support/equity.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { drain, localCatalog, marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

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

/** Fees at their maximum and ten times the usual buffer. No time passes: fees of yields hold to the unit. */
beforeAll(async () => {
  const deployment = { depositFee: DEPOSIT_FEE, yieldFee: YIELD_FEE, liquidationBuffer: 25n * 10n ** 15n };
  service = await startService({ sleep: passing(() => service), deployment });
  partner = partnerOn(service, 1, account);
  for (const chainId of [1, 4663]) {
    await service.world.chains.on(chainId).client.setBlockTimestampInterval({ interval: 0 });
  }
});
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

/** The amount of a token that the treasury receives while a bundle is sent. */
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

it('behavior: an opening is sized after the deposit fee', async () => {
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

it('behavior: withdrawing and closing show the yield fee of the treasury', async () => {
  const market = marketOf(1, CORRELATED);
  const { id, bundle } = await open(market, market.collateral, '1000', '70');
  expect(await feeOf(market.collateral, bundle)).toBe(0n);
  await service.world.chains.on(1).moveOracle(market, '4');
  const out = await manage(id, 'remove_collateral', { amount: '20' });
  const [, reported = '0'] = /keeps ([\d.]+) sUSDe of the yield as its fee/.exec(out.meta.instructions) ?? [];
  expect(Number(reported)).toBeCloseTo(2, 5);
  expect(await feeOf(market.collateral, out)).toBe(units(reported, market.collateral));

  const basis = await basisOf(id);
  const before = await partner.balance(market.loan);
  const tight = await manage(id, 'close', { slippage: 0.0001 });
  const [paid] = tight.meta.received;
  expect(Number(tight.meta.positionPreview.worstCase.equity)).toBeLessThanOrEqual(Number(paid.amount));
  const close = await manage(id, 'close');
  expect(close.meta.instructions).toMatch(/keeps about .+ PYUSD of the yield/);
  const fee = await feeOf(market.loan, close);
  const returned = (await partner.balance(market.loan)) - before + fee;
  expect(fee).toBe(((returned - basis) * YIELD_FEE) / WAD);
  expect(Number(costIn(close, 'YIELD_FEE').amount)).toBeCloseTo(Number(fee) / 1e6, 3);
});

const costIn = (bundle: Json, kind: string) =>
  bundle.meta.positionPreview.costs.find((cost: Json) => cost.kind === kind);
/** The amount of a fee in `costs`, base units; 0 without one. */
function actual(costs: readonly Json[], kind: string, token: Token): bigint {
  const [cost, ...others] = costs.filter((each) => each.kind === kind);
  expect(others).toEqual([]);
  if (cost) expect([cost.symbol, cost.token]).toEqual([token.symbol, token.address]);
  return cost ? units(cost.amount, token) : 0n;
}
/** The fee of a bundle equals the treasury's receipt to the unit, and occurs once. */
async function expectFee(token: Token, bundle: Json, kind = 'DEPOSIT_FEE'): Promise<void> {
  const expected = actual(bundle.meta.positionPreview.costs, kind, token);
  expect(expected > 0n).toBe(true);
  expect(await feeOf(token, bundle)).toBe(expected);
}

it('behavior: on an uncorrelated market every deposit fee is exact to the unit', async () => {
  const market = marketOf(1, UNCORRELATED);
  const { collateral, loan } = market;
  for (const [pay, amount] of [
    [collateral, '0.31234567'],
    [tokenOf(1, 'USDC'), '20001.234567'],
    [tokenOf(1, 'ETH'), '2.0001'],
  ] as const) {
    const id = await partner.nextId();
    const body = { strategyId: market.id, payToken: pay.address, amount, desiredLtv: '50' };
    const preview = await partner.build('/v1/partner/leverage/simulate', body);
    const bundle = await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user });
    expect(actual(preview.positionPreview.costs, 'DEPOSIT_FEE', collateral)).toBe(
      actual(bundle.meta.positionPreview.costs, 'DEPOSIT_FEE', collateral),
    );
    await expectFee(collateral, bundle);
    if (pay.isNative) continue;
    await expectFee(collateral, await manage(id, 'add_collateral', { amount: '0.1', payToken: collateral.address }));
    const swapped = await manage(id, 'add_collateral', { amount: '1001.5', payToken: tokenOf(1, 'USDT').address });
    await expectFee(collateral, swapped);
    await expectFee(loan, await manage(id, 'repay', { amount: '1000.000001', payToken: loan.address }));
    await expectFee(loan, await manage(id, 'repay', { amount: '900.5', payToken: tokenOf(1, 'USDT').address }));
    const full = pay === collateral ? loan : tokenOf(1, 'USDT');
    await expectFee(loan, await manage(id, 'repay', { full: true, payToken: full.address }));
    expect(await partner.position(market, id)).toMatchObject({ open: true, debt: 0n });
  }
});

it('behavior: on a correlated market every yield fee is exact to the unit', async () => {
  const market = marketOf(1, CORRELATED);
  const { id, bundle } = await open(market, market.collateral, '1000', '70');
  expect(bundle.meta.positionPreview.costs.map(({ kind }: Json) => kind)).not.toContain('DEPOSIT_FEE');
  await partner.send(bundle);
  expect(costIn(await manage(id, 'close', { amount: '300' }), 'YIELD_FEE')).toBeUndefined();
  await service.world.chains.on(1).moveOracle(market, '4');
  await expectFee(market.collateral, await manage(id, 'remove_collateral', { amount: '20' }), 'YIELD_FEE');
  await expectFee(market.loan, await manage(id, 'close', { amount: '300' }), 'YIELD_FEE');
  await expectFee(market.loan, await manage(id, 'close'), 'YIELD_FEE');
});

it('behavior: the exit from a vault shows the yield fees of its loops to the unit, and pays out the rest', async () => {
  const spy = vaultOf('SPY');
  const vaults = equityVerbs(service);
  const token = spy.depositToken;
  const chain = partnerOn(service, 4663, account as NonNullable<typeof account>);
  const held = () => vaults.balance(token.address, TREASURY);
  const state = await vaults.local.snapshot();
  await vaults.fund(user, spy, 5_000n * 10n ** BigInt(token.decimals));
  for (const amount of ['3000', '2000']) {
    const { calls } = await vaults.ask(DEPOSIT_QUERY, { strategyId: spy.id, amount, userAddress: user });
    await vaults.sendAtomically(user, calls);
  }
  await vaults.local.moveOracle(spy.yieldMarket, '3');
  const exit = { strategyId: spy.id, userAddress: user };
  const built = await vaults.post('/v1/partner/equity/exit/build', exit);
  expect(built.status, built.text).toBe(200);
  const { costs, received, worstCase } = built.body.meta;
  const [treasury, wallet] = [await held(), await chain.balance(token)];
  await vaults.sendAtomically(user, built.body.calls);
  const fee = actual(costs, 'YIELD_FEE', token);
  expect(fee > 0n).toBe(true);
  expect((await held()) - treasury).toBe(fee);
  const paid = (await chain.balance(token)) - wallet;
  expect(paid).toBe(units(received[0].amount, token));
  expect(paid >= units(worstCase.paidOut, token)).toBe(true);
  await vaults.local.revert(state);
});

it('error: a correlated market refuses a loan above the basis', async () => {
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

it("error: refuses an LTV beyond the contract's buffer with its limit", async () => {
  const market = marketOf(1, CORRELATED);
  const body = { chainId: 1, strategyId: market.id, payToken: market.collateral.address, amount: '10' };
  const refused = await service.post('/v1/partner/leverage/simulate', { ...body, desiredLtv: '88.5' }, PARTNER);
  expect(refused.status).toBe(400);
  expect(refused.body.error.details.limit).toMatchObject({ maxLtvPct: '88.25' });
  const allowed = await service.post('/v1/partner/leverage/simulate', { ...body, desiredLtv: '88.25' }, PARTNER);
  expect(allowed.status, allowed.text).toBe(200);
});

it('behavior: at low leverage the fee is not a shortfall of the simulation, for any pay token', async () => {
  const market = marketOf(1, UNCORRELATED);
  for (const [pay, amount] of [
    [market.collateral, '0.5'],
    [tokenOf(1, 'USDC'), '20000'],
    [tokenOf(1, 'ETH'), '2'],
  ] as const) {
    const { id, bundle } = await open(market, pay, amount, '5');
    await partner.send(bundle);
    const { ltvPct } = await partner.position(market, id);
    expect(ltvPct.minus(bundle.meta.positionPreview.effectiveLtv).abs().toNumber()).toBeLessThan(0.02);
  }
});

it('behavior: the alternatives for a lower leverage include the deposit fee', async () => {
  const market = marketOf(1, UNCORRELATED);
  for (const way of ['repay', 'add_collateral']) {
    const { id, bundle } = await open(market, market.collateral, '0.5', '60');
    await partner.send(bundle);
    const body = { chainId: 1, userAddress: user, id, action: 'increase_leverage', desiredLtv: '40' };
    const refused = await service.post('/v1/partner/manage/build', body, PARTNER);
    expect(refused.status).toBe(400);
    const { alternatives } = refused.body.error.details;
    const { amount } = alternatives.find(({ action }: Json) => action === way);
    const payToken = (way === 'repay' ? market.loan : market.collateral).address;
    await partner.send(await manage(id, way, { amount, payToken }));
    const { ltvPct } = await partner.position(market, id);
    expect(ltvPct.minus(40).abs().toNumber(), `${way}: ${ltvPct}`).toBeLessThan(0.01);
  }
});

/** Refused at a bound, the usual one by default, with the number that would do; built with it, and not with less. */
async function expectBound(path: string, body: Json, bound = 2): Promise<Json> {
  const requested = bound === 2 ? body : { ...body, maxSwapLossPct: bound };
  const refused = await service.post(path, requested, PARTNER);
  expect(refused.status, refused.text).toBe(400);
  const { maxTotalLossPct, maxSwapLossPct } = refused.body.error.details.limit;
  expect(maxTotalLossPct).toBe(String(bound));
  expect(Number(maxSwapLossPct)).toBeGreaterThan(bound);
  const less = await service.post(path, { ...body, maxSwapLossPct: Number(maxSwapLossPct) - 0.05 }, PARTNER);
  expect(less.status).toBe(400);
  const built = await service.post(path, { ...body, maxSwapLossPct: Number(maxSwapLossPct) }, PARTNER);
  expect(built.status, built.text).toBe(200);
  return built.body;
}

it('behavior: the deposit fee counts toward the cost limit of an opening', async () => {
  const market = marketOf(1, UNCORRELATED);
  const body = { chainId: 1, strategyId: market.id, payToken: market.collateral.address, userAddress: user };
  const id = await partner.nextId();
  const bundle = await expectBound('/v1/partner/leverage/build', { ...body, amount: '0.5', desiredLtv: '82' }, 1);
  const fee = bundle.meta.positionPreview.costs.find(({ kind }: Json) => kind === 'DEPOSIT_FEE');
  expect(Number(fee.pctOfEquity)).toBe(1);
  expect(Number(bundle.meta.positionPreview.totalSwapCostPctOfEquity)).toBeLessThan(0.5);
  await partner.send(bundle);
  expect((await partner.position(market, id)).open).toBe(true);
});

it('behavior: the reallocation fee counts toward the cost limit of an opening', async () => {
  const market = marketOf(1, 'wsrUSD/USDC 94.5');
  await drain(service, market, '10');
  await service.refresh('lending-state:1');
  const body = { chainId: 1, strategyId: market.id, payToken: market.collateral.address, userAddress: user };
  const id = await partner.nextId();
  const bundle = await expectBound('/v1/partner/leverage/build', { ...body, amount: '40', leverage: 2 });
  const fee = bundle.meta.positionPreview.costs.find(({ kind }: Json) => kind === 'REALLOCATION_FEE');
  expect(Number(fee.pctOfEquity)).toBeGreaterThan(2);
  expect(Number(bundle.meta.positionPreview.totalSwapCostPctOfEquity)).toBeGreaterThan(Number(fee.pctOfEquity));
  await partner.send(bundle);
  expect((await partner.position(market, id)).open).toBe(true);
});

it('behavior: the deposit fee of a yield market counts in a vault deposit, as previewed', async () => {
  const spy = vaultOf('SPY');
  await makeUncorrelated(4663, spy.yieldMarket);
  const vaults = equityVerbs(service);
  const input = { strategyId: spy.id, amount: '3000', stockLtvPct: '50', userAddress: user };
  const refused = await vaults.ask(DEPOSIT_QUERY, { ...input, maxSwapLossPct: '0.5' });
  expect(refused.limits, JSON.stringify(refused)).toContainEqual({ name: 'maxTotalLossPct', value: '0.5' });
  const { value } = refused.limits.find(({ name }: Json) => name === 'maxSwapLossPct');
  const body = { chainId: 4663, strategyId: spy.id, amount: '3000', stockLtvPct: '50' };
  const simulated = await vaults.post('/v1/partner/equity/simulate', { ...body, maxSwapLossPct: Number(value) });
  expect(simulated.status, simulated.text).toBe(200);
  const { costs, totalSwapCostPctOfEquity } = simulated.body.preview ?? simulated.body;
  const fee = costs.find(({ kind }: Json) => kind === 'DEPOSIT_FEE');
  // A hundredth of the loan on half of the deposit.
  expect(Number(fee.pctOfEquity)).toBeCloseTo(0.5, 1);
  expect(Number(value)).toBeCloseTo(Number(totalSwapCostPctOfEquity) + Number(fee.pctOfEquity), 1);
  const { calls, deposit } = await vaults.ask(DEPOSIT_QUERY, { ...input, maxSwapLossPct: value });
  const held = () => vaults.balance(spy.yieldMarket.collateral.address, TREASURY);
  const before = await held();
  await vaults.fund(user, spy, 3_000n * 10n ** BigInt(spy.depositToken.decimals));
  const chain = partnerOn(service, 4663, account as NonNullable<typeof account>);
  const id = await chain.nextId();
  await vaults.sendAtomically(user, calls);
  const { ltvPct, basis } = await chain.position(spy.yieldMarket, id);
  expect(formatUnits(basis, spy.depositToken.decimals)).toBe(deposit.yieldLeg.depositBasis);
  expect(ltvPct.minus(deposit.yieldLeg.ltvPct).abs().toNumber()).toBeLessThan(0.02);
  expect((await held()) - before).toBe(actual(costs, 'DEPOSIT_FEE', spy.yieldMarket.collateral));
});

function vaultOf(symbol: string): EquityVault {
  const vault = localCatalog.chain(4663)?.equityVaults.find(({ stock }) => stock.symbol === symbol);
  if (!vault) throw new Error(`no ${symbol} vault`);
  return vault;
}

/** Make the contract of a chain charge its deposit fee in a market that is correlated in the catalog. */
async function makeUncorrelated(chainId: number, { id }: Market): Promise<void> {
  const { client, chain } = service.world.chains.on(chainId);
  const address = chain.contracts.flashLeverage;
  const isCorrelated = () =>
    client.readContract({ address, abi: flashLeverageAbi, functionName: 's_isCorrelated', args: [id] });
  for (let slot = 0n; slot < 32n && (await isCorrelated()); slot++) {
    const index = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, slot]));
    const before = (await client.getStorageAt({ address, slot: index })) ?? '0x';
    await client.setStorageAt({ address, index, value: pad('0x') });
    if (await isCorrelated())
      await client.setStorageAt({ address, index, value: pad(before === '0x' ? numberToHex(0) : before) });
  }
  expect(await isCorrelated()).toBe(false);
}

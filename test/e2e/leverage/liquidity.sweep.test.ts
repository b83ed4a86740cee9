import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { marketParams } from '../../../devnet/chain/deploy.ts';
import { LENDER, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import type { Market } from '../../../src/catalog/types.ts';
import { formatUnitsPlain } from '../../../src/shared/decimal.ts';
import type { Hex } from '../../../src/shared/ids.ts';
import { CHAIN_ID, type EquityVerbs, equityVerbs, passing } from '../../support/equity.ts';
import { manageVariables } from '../../support/partner-inputs.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { account, user } from '../../support/vaults.ts';
import { drain, expectPreviewed, marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

/*
 * Every action at the last unit of liquidity. No time passes here: lenders take out and bring in loan tokens until market and
 * protocol hold exactly the tested amount, and no debt grows meanwhile.
 */

const loop = marketOf(CHAIN_ID, 'syrupUSDG/USDG 91.5');
const { loan } = loop;
let service: TestService;
let verbs: EquityVerbs;
let partner: Partner;
let snapshot: Hex;

beforeAll(async () => {
  service = await startService({ sleep: passing(() => service) });
  verbs = equityVerbs(service);
  partner = partnerOn(service, CHAIN_ID, account);
  await verbs.local.client.setBlockTimestampInterval({ interval: 0 });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  snapshot = await verbs.local.snapshot();
});
afterEach(() => verbs.local.revert(snapshot));

/** Set the liquidity of a market, loan base units. */
async function lends(market: Market, amount: bigint): Promise<void> {
  const { local } = verbs;
  const [supplied, , borrowed] = await verbs.totals(market);
  const off = amount - (supplied - borrowed);
  if (off > 0n) await local.supply(market, off);
  if (off >= 0n) return;
  const { morphoBlue } = local.chain.contracts;
  await local.call(LENDER, morphoBlue, 'Morpho', 'withdraw', [marketParams(market), -off, 0n, LENDER, LENDER]);
}

/** Set the liquidity of markets, zero for all others, and the idle tokens of the protocol beside it. */
async function hold(idle: bigint, lending: readonly (readonly [Market, bigint])[] = []): Promise<void> {
  const { chain } = verbs.local;
  const sum = lending.reduce((total, [, amount]) => total + amount, 0n);
  const rest = chain.markets.find(({ id }) => id === marketOf(CHAIN_ID, 'USDe/USDG 91.5').id);
  for (const market of chain.markets.filter((candidate) => candidate.loan.address === loan.address)) {
    const given = lending.find(([{ id }]) => id === market.id);
    await lends(market, given?.[1] ?? (market === rest ? idle - sum : 0n));
  }
}
const at = (text: string) => units(text, loan);
const shown = (amount: bigint) => formatUnitsPlain(amount, loan.decimals);

const post = (path: string, body: Json) => service.post(`/v1/partner/${path}`, { chainId: CHAIN_ID, ...body }, PARTNER);
/** Every path refuses for liquidity alike. @returns the details */
async function refused(requested: readonly (readonly [string, Json])[]): Promise<Json> {
  const answers = await Promise.all(requested.map(([path, body]) => post(path, body)));
  for (const { status, body } of answers) {
    expect([status, body.error?.code], JSON.stringify(body)).toEqual([503, 'insufficient_liquidity']);
    expect(body.error.details).toEqual(answers[0]?.body.error.details);
  }
  return answers[0]?.body.error.details;
}
async function built(path: string, body: Json): Promise<Json> {
  const answer = await post(path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const manage = (id: number, action: string, more: Json = {}) =>
  ['manage/build', { userAddress: user, id, action, ...more }] as const;

async function opened(amount: string, leverage: number): Promise<number> {
  await verbs.local.mint(loop.collateral, user, units(amount, loop.collateral));
  const id = await partner.nextId();
  const open = { strategyId: loop.id, payToken: loop.collateral.address, amount, leverage, userAddress: user };
  await partner.send(await built('leverage/build', open));
  return id;
}

describe('close', () => {
  it('behavior: needs its whole debt in the protocol, to the unit, otherwise names the part that can be closed', async () => {
    const id = await opened('1000', 5);
    await hold(0n);
    const { needed } = await refused([manage(id, 'close')]);
    const { debt } = await partner.position(loop, id);
    // The debt of the minute in which the bundle may be sent.
    expect(at(needed) > debt && at(needed) < debt + debt / 100_000n).toBe(true);
    await hold(debt);
    expect(await refused([manage(id, 'close')])).toMatchObject({ needed, available: shown(debt) });
    await hold(at(needed) - 1n);
    const details = await refused([manage(id, 'close')]);
    expect(details).toMatchObject({ needed, available: shown(at(needed) - 1n), symbol: 'USDG', place: 'protocol' });
    const request = { chainId: CHAIN_ID, userAddress: user, id, action: 'close' };
    const { body } = await service.graphql(
      'mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) { ... on InsufficientLiquidityRefusal { retryable needed available place maxAmount } } }',
      { ...manageVariables(request) },
      PARTNER,
    );
    const { available, maxAmount } = details;
    const reported = { retryable: true, needed, available, place: 'PROTOCOL', maxAmount };
    expect(body.data?.manageLeveragePlan, JSON.stringify(body)).toEqual(reported);
    const before = await verbs.local.snapshot();
    await hold(at(needed));
    await partner.send(await built(...manage(id, 'close')));
    expect(await partner.position(loop, id)).toMatchObject({ open: false, debt: 0n });
    await verbs.local.revert(before);
    await partner.send(await built(...manage(id, 'close', { amount: details.maxAmount })));
    expect((await partner.position(loop, id)).open).toBe(true);
  });

  it('behavior: a part needs its share of the debt, with the same refusal', async () => {
    const id = await opened('1000', 5);
    const { collateral, debt } = await partner.position(loop, id);
    await hold(debt / 3n);
    const half = formatUnitsPlain(collateral / 2n, loop.collateral.decimals);
    const details = await refused([manage(id, 'close', { amount: half })]);
    expect(details).toMatchObject({ available: shown(debt / 3n), place: 'protocol' });
    await partner.send(await built(...manage(id, 'close', { amount: details.maxAmount })));
    const after = await partner.position(loop, id);
    expect(Number(after.debt) / Number(debt)).toBeCloseTo(2 / 3, 3);
  });
});

describe('increase_leverage and borrow', () => {
  it('behavior: a borrow needs its amount in the market; no target is named without a higher one', async () => {
    const id = await opened('1000', 3);
    await hold(99_999_999n, [[loop, 99_999_999n]]);
    expect(await refused([manage(id, 'borrow', { amount: '100' })])).toMatchObject({ maxAmount: '99.999999' });
    await partner.send(await built(...manage(id, 'borrow', { amount: '99.999999' })));
    await hold(9n, [[loop, 9n]]);
    expect(await refused([manage(id, 'increase_leverage', { leverage: 6 })])).not.toHaveProperty('maxLeverage');
  });

  it('behavior: needs its loan in the market and twice the loan in the protocol, to the unit', async () => {
    const id = await opened('1000', 3);
    const more = manage(id, 'increase_leverage', { leverage: 6 });
    await hold(0n);
    const { needed } = await refused([more]);
    const amount = at(needed);
    await hold(4n * amount, [[loop, amount - 1n]]);
    const oneShort = { needed, available: shown(amount - 1n), place: 'market', marketId: loop.id };
    expect(await refused([more])).toMatchObject(oneShort);
    await hold(2n * amount - 1n, [[loop, amount]]);
    const details = await refused([more]);
    const available = shown(2n * amount - 1n);
    expect(details).toMatchObject({ needed: shown(2n * amount), available, place: 'protocol' });
    const before = await verbs.local.snapshot();
    await partner.send(await built(...manage(id, 'increase_leverage', { leverage: Number(details.maxLeverage) })));
    await verbs.local.revert(before);
    await hold(2n * amount, [[loop, amount]]);
    await partner.send(await built(...more));
    expect((await partner.position(loop, id)).ltvPct.minus(83.333).abs().toNumber()).toBeLessThan(0.05);
  });
});

describe('a vault', () => {
  const deposit = (amount: string): Json => ({ strategyId: verbs.vault('SPY').id, amount });
  const both = (amount: string) =>
    [
      ['equity/simulate', deposit(amount)],
      ['equity/deposit/build', { ...deposit(amount), userAddress: user }],
    ] as const;
  const fund = (amount: string) => verbs.fund(user, verbs.vault('SPY'), at(amount));

  it('behavior: a deposit needs its stock loan and twice its flash loan in the protocol, to the unit', async () => {
    const { stockMarket, yieldMarket } = verbs.vault('SPY');
    const { preview } = await built('equity/simulate', deposit('5000'));
    const borrow = at(preview.stock.borrowUsdg);
    const flash = at(preview.yieldLeg.amountFlashLoan);
    await hold(borrow + 3n * flash, [
      [stockMarket, borrow - 1n],
      [yieldMarket, flash],
    ]);
    expect(await refused(both('5000'))).toMatchObject({ needed: shown(borrow), marketId: stockMarket.id });
    await hold(borrow + 3n * flash, [
      [stockMarket, borrow],
      [yieldMarket, flash - 1n],
    ]);
    expect(await refused(both('5000'))).toMatchObject({ needed: shown(flash), marketId: yieldMarket.id });

    const lending = [
      [stockMarket, borrow],
      [yieldMarket, flash],
    ] as const;
    const needed = borrow + 2n * flash;
    await hold(needed - 1n, lending);
    const details = await refused(both('5000'));
    expect(details).toMatchObject({ needed: shown(needed), available: shown(needed - 1n), place: 'protocol' });
    await fund('10000');
    const largest = { ...deposit(details.maxAmount), userAddress: user };
    const before = await verbs.local.snapshot();
    await verbs.sendAtomically(user, (await built('equity/deposit/build', largest)).calls);
    await verbs.local.revert(before);
    await hold(needed, lending);
    const exact = { ...deposit('5000'), userAddress: user };
    await verbs.sendAtomically(user, (await built('equity/deposit/build', exact)).calls);
    expect((await verbs.stockLeg(verbs.vault('SPY'), user)).collateral > 0n).toBe(true);
  });

  it('behavior: an exit is checked by call: the repayment of one call is available to the next, to the unit', async () => {
    const vault = verbs.vault('SPY');
    const enter = async (amount: string) => {
      await fund(amount);
      const batch = await built('equity/deposit/build', { ...deposit(amount), userAddress: user });
      await verbs.sendAtomically(user, batch.calls);
    };
    await enter('4000');
    await enter('500');
    const exit = ['equity/exit/build', { strategyId: vault.id, userAddress: user, yieldPositionIds: [1, 0] }] as const;
    const { debt: small } = await partner.position(loop, 1);
    await hold(small * 2n);
    const { needed, available } = await refused([exit]);
    // Of the second loop, once the first has brought its debt back.
    expect(at(needed) > small * 6n).toBe(true);
    const brought = at(available) - small * 2n;
    expect(brought >= small && brought < small + small / 100_000n).toBe(true);
    const idle = at(needed) - brought;
    await hold(idle - 1n);
    expect(await refused([exit])).toMatchObject({ needed, available: shown(at(needed) - 1n), place: 'protocol' });
    await hold(idle);
    await verbs.sendAtomically(user, (await built(...exit)).calls);
    expect((await verbs.loops(user)).some(({ open }) => open)).toBe(false);
    expect(await verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
  });

  it('behavior: the stock leg of an exit needs the remainder of its loops', async () => {
    const vault = verbs.vault('SPY');
    const collateral = 10n ** 19n;
    await verbs.local.openMorphoPosition(vault.stockMarket, { account: user, collateral, borrowed: 1_000_000_000n });
    const exit = ['equity/exit/build', { strategyId: vault.id, userAddress: user }] as const;
    await hold(0n);
    const { needed } = await refused([exit]);
    await hold(at(needed) - 1n);
    await refused([exit]);
    await hold(at(needed));
    await verbs.sendAtomically(user, (await built(...exit)).calls);
    expect(await verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
  });
});

describe("a loan beyond the market's own liquidity", () => {
  const [, opener] = untouchedAccounts;
  if (!opener) throw new Error('the local world has untouched accounts');
  const user = opener.address;
  let partner: Partner;
  beforeAll(() => {
    partner = partnerOn(service, 1, opener);
  });

  it.each([
    ['the collateral itself', 'reallocateAndLeverage', 'wsrUSD', '20000', 0n],
    ['another token', 'reallocateSwapAndLeverage', 'USDT', '20000', 0n],
    ['ETH', 'reallocateSwapAndLeverage', 'ETH', '5', 5n * 10n ** 18n],
  ])('default: reallocates liquidity first, paid with %s (%s)', async (_name, path, pay, amount, native) => {
    const market = marketOf(1, 'wsrUSD/USDC 94.5');
    await drain(service, market, '9000');
    await service.refresh('lending-state:1');
    const id = await partner.nextId();
    const body = { strategyId: market.id, payToken: tokenOf(1, pay).address, amount, leverage: 4 };
    const simulation = await partner.build('/v1/partner/leverage/simulate', body);
    expect(simulation).toMatchObject({ path, isReallocate: true, isDirect: pay === 'wsrUSD' });
    const bundle = await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user });
    expect(bundle.path).toBe(path);
    expect(BigInt(simulation.reallocationFeeWei)).toBe(500_000_000_000_000n);
    expect(BigInt(bundle.tx.value)).toBe(native + BigInt(simulation.reallocationFeeWei));
    await partner.send(bundle);
    const position = await partner.position(market, id);
    expectPreviewed(position, bundle.meta.positionPreview, market);
    const close = await partner.build('/v1/partner/manage/build', { userAddress: user, id, action: 'close' });
    await partner.send(close);
    expect(await partner.position(market, id)).toMatchObject({ open: false, collateral: 0n, debt: 0n });
  });

  it('behavior: a market without liquidity refuses increases and allows exits', async () => {
    const market = marketOf(4663, 'syrupUSDG/USDG 91.5');
    const local = service.world.chains.on(4663);
    const snapshot = await local.snapshot();
    await drain(service, market, '0');
    const { address: userAddress } = seededWallet('looper').account;
    const payToken = market.loan.address;
    const requests = (body: object) =>
      service.post('/v1/partner/manage/build', { chainId: 4663, userAddress, id: 0, ...body }, PARTNER);
    for (const body of [
      { action: 'borrow', amount: '1' },
      { action: 'increase_leverage', leverage: 5 },
    ]) {
      const { status, body: refused } = await requests(body);
      expect([status, refused.error.code]).toEqual([503, 'insufficient_liquidity']);
      expect(refused.error.details).toMatchObject({ symbol: 'USDG', available: '0' });
    }
    for (const body of [
      { action: 'close' },
      { action: 'repay', full: true, payToken },
      { action: 'repay', amount: '10', payToken },
      { action: 'remove_collateral', amount: '1' },
      { action: 'add_collateral', amount: '1', payToken },
    ]) {
      const { status, text } = await requests(body);
      expect(status, text).toBe(200);
    }
    await local.revert(snapshot);
  });

  it('behavior: a build uses the new price after a move of the oracle since the preview', async () => {
    const market = marketOf(1, 'sUSDe/PYUSD 91.5');
    const local = service.world.chains.on(1);
    const snapshot = await local.snapshot();
    const body = { strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 5 };
    const preview = await partner.build('/v1/partner/leverage/simulate', body);
    await local.moveOracle(market, '-4');
    const bundle = await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user });
    expect(Number(bundle.meta.amountFlashLoan) / Number(preview.amountFlashLoan)).toBeCloseTo(0.96, 4);
    expect(Number(bundle.meta.positionPreview.effectiveLtv)).toBeLessThan(80.1);
    const id = await partner.nextId();
    await partner.send(bundle);
    expect((await partner.position(market, id)).ltvPct.lte('80.1')).toBe(true);
    await local.revert(snapshot);
  });

  it("error: InsufficientLiquidity above the allocator's maximum", async () => {
    const market = marketOf(1, 'sDOLA/frxUSD 91.5');
    await drain(service, market, '100');
    const answer = await service.post(
      '/v1/partner/leverage/simulate',
      { strategyId: market.id, payToken: market.collateral.address, amount: '1000', leverage: 3 },
      PARTNER,
    );
    expect(answer.body.error).toMatchObject({ code: 'insufficient_liquidity', details: { symbol: 'frxUSD' } });
  });
});

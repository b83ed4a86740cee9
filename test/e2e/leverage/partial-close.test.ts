import { erc20Abi } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWNER, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { encodeFunctionData } from '../../../src/abi/calldata.ts';
import { Decimal, formatUnitsPlain } from '../../../src/shared/decimal.ts';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';
import { localCatalog, marketOf, type Partner, partnerOn, units } from './support.ts';

const BUILD = '/v1/partner/leverage/build';
const MANAGE = '/v1/partner/manage/build';
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const market = marketOf(1, 'sUSDe/PYUSD 91.5');
let service: TestService;
let partner: Partner;

beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  partner = partnerOn(service, 1, account);
});
afterAll(() => service?.stop());

async function opened(leverage = 5): Promise<number> {
  await service.world.chains.on(1).mint(market.collateral, user, units('1000', market.collateral));
  const id = await partner.nextId();
  const open = { strategyId: market.id, payToken: market.collateral.address, amount: '1000', leverage };
  await partner.send(await partner.build(BUILD, { ...open, userAddress: user }));
  return id;
}
/** Let every venue take so many basis points. */
async function setVenueFees(feeBps: bigint): Promise<void> {
  const { chain, call } = service.world.chains.on(1);
  for (const venue of [...(chain.swapRouters.AggregatorOne ?? []), ...(chain.swapRouters.AggregatorTwo ?? [])]) {
    await call(OWNER, venue, 'SwapVenue', 'setFee', [feeBps]);
  }
}
/** Let every venue move the price of the collateral by 1 % per so many USD. */
async function makeShallow(depthUsd: bigint): Promise<void> {
  const { chain, call } = service.world.chains.on(1);
  const prices = [{ token: market.collateral.address, usdPerToken: 0n, depthUsd: depthUsd * 10n ** 18n }];
  for (const venue of [...(chain.swapRouters.AggregatorOne ?? []), ...(chain.swapRouters.AggregatorTwo ?? [])]) {
    await call(OWNER, venue, 'SwapVenue', 'setPrices', [prices]);
  }
}
const manage = async (body: Json) =>
  (await service.post(MANAGE, { chainId: 1, userAddress: user, ...body }, PARTNER)).body;

describe('close with an amount', () => {
  it('behavior: sells that amount, previews the remaining position, and shows the payout', async () => {
    const id = await opened();
    const before = await partner.position(market, id);
    const bundle = await partner.build(MANAGE, { userAddress: user, id, action: 'close', amount: '1234.5' });
    expect(bundle).toMatchObject({ action: 'close', path: 'deleverage' });
    const wallet = await partner.balance(market.loan);
    await partner.send(bundle);
    const after = await partner.position(market, id);
    expect(after.open).toBe(true);
    expect(before.collateral - after.collateral).toBe(units('1234.5', market.collateral));
    const { amountLeveragedCollateral, effectiveLtv } = bundle.meta.positionPreview;
    expect(amountLeveragedCollateral).toBe(formatUnitsPlain(after.collateral, market.collateral.decimals));
    expect(after.ltvPct.minus(effectiveLtv).abs().lte('0.01')).toBe(true);
    expect(after.debt < before.debt).toBe(true);
    const paid = formatUnitsPlain((await partner.balance(market.loan)) - wallet, market.loan.decimals);
    const [received] = bundle.meta.received;
    expect(received.symbol).toBe(market.loan.symbol);
    expect(new Decimal(paid).div(received.amount).toNumber()).toBeCloseTo(1, 4);
    const repaid = formatUnitsPlain(before.debt - after.debt, market.loan.decimals);
    expect(new Decimal(bundle.meta.amountFlashLoan).div(repaid).toNumber()).toBeCloseTo(1, 4);
    expect(bundle.meta.instructions).toContain('the preview is the outcome of the simulation');
  });

  it('behavior: the whole amount closes the position', async () => {
    const id = await opened();
    const { collateral } = await partner.position(market, id);
    const amount = formatUnitsPlain(collateral, market.collateral.decimals);
    const bundle = await partner.build(MANAGE, { userAddress: user, id, action: 'close', amount });
    expect(bundle.meta.positionPreview).toEqual({
      costs: [expect.objectContaining({ kind: 'EXIT_SWAP' })],
      totalSwapCostPctOfEquity: expect.any(String),
      worstCase: { equity: expect.any(String), paidOut: expect.any(String) },
      readAt: expect.any(Object),
      oraclePriceAsOf: expect.any(String),
    });
    await partner.send(bundle);
    expect(await partner.position(market, id)).toMatchObject({ open: false, collateral: 0n, debt: 0n });
  });

  it('behavior: a position that was sold in two parts has no result of its own, which would be the first part', async () => {
    const id = await opened();
    for (const amount of ['1000', undefined]) {
      await partner.send(await partner.build(MANAGE, { userAddress: user, id, action: 'close', amount }));
    }
    await service.refresh('lending-state:1', 'position-history:1');
    const { body } = await service.get(`/v1/partner/positions/${user}?chainId=1`, PARTNER);
    const { status, pnl } = body.positions.find((position: Json) => position.id === id);
    expect([status, pnl.baseResultUsd, pnl.baseResultAfterFeeUsd]).toEqual(['closed', undefined, undefined]);
    expect(Number(pnl.returnedUsd)).toBeGreaterThan(Number(pnl.depositedUsd) * 1.2);
    // Nor has the portfolio of the ops surface, alone and in the report of all wallets.
    const one = (await service.get(`/v1/ops/portfolio/${user}?chainId=1`, OPS)).body;
    const all = (await service.get('/v1/ops/portfolios?chainId=1', OPS)).body;
    const own = one.closed.find((position: Json) => position.id === id);
    const listed = all.users.flatMap(({ closed = [] }: Json) => closed).find(({ proxy }: Json) => proxy === own.proxy);
    for (const portfolio of [own, listed]) {
      expect([portfolio.pnl.returnedUsd, portfolio.pnl.baseResultUsd]).toEqual([pnl.returnedUsd, undefined]);
    }
    const { pnlSplit } = (await service.get(`/v1/partner/positions/${user}/${id}/history?chainId=1`, PARTNER)).body;
    expect(Number(pnlSplit.result.usd)).toBeLessThan(0);
  });

  it('behavior: the worst case is remainder plus payout, and a bad fill stays above it', async () => {
    const state = await service.world.chains.on(1).snapshot();
    const id = await opened();
    const bundle = await partner.build(MANAGE, { userAddress: user, id, action: 'close', amount: '2000' });
    const { worstCase } = bundle.meta.positionPreview;
    const wallet = await partner.balance(market.loan);
    // Half a percent less than the quote is accepted, and the venue had a fee before.
    await setVenueFees(45n);
    await partner.send(bundle);
    const paid = new Decimal(formatUnitsPlain((await partner.balance(market.loan)) - wallet, market.loan.decimals));
    const { collateral, debt } = await partner.position(market, id);
    const price = await service.world.chains.on(1).oraclePrice(market);
    const left = formatUnitsPlain((collateral * price) / 10n ** 36n - debt, market.loan.decimals);
    const least = (value: Decimal, reported: Decimal, what: string) => {
      expect(value.gte(reported), `${what}: ${value} is below ${reported}`).toBe(true);
      expect(value.times('0.99').lte(reported), `${what}: ${reported} is far below ${value}`).toBe(true);
    };
    least(paid, new Decimal(worstCase.paidOut), 'paid out');
    least(paid.plus(left), new Decimal(worstCase.equity), 'paid out and left');
    await service.world.chains.on(1).revert(state);
  });

  it('behavior: refuses to leave dust, and names the largest part and the full close', async () => {
    const id = await opened();
    const { collateral } = await partner.position(market, id);
    const shown = (amount: bigint) => formatUnitsPlain(amount, market.collateral.decimals);
    // One unit would be left without debt, some millionths of a loan token with more debt than they carry.
    const [{ error }] = await Promise.all(
      [1n, 10n ** 12n, 2n * 10n ** 12n].map(async (left) => {
        const amount = shown(collateral - left);
        const refused = await manage({ id, action: 'close', amount });
        const details = { field: 'body.amount', value: amount };
        expect(refused.error, amount).toMatchObject({ code: 'bad_request', details });
        return refused;
      }),
    );
    const { maxAmount, collateral: whole } = error.details.limit;
    expect(whole).toBe(shown(collateral));
    expect(error.message).toContain('Leave amount out to close the whole position');
    expect(error.message).toContain(maxAmount);
    const left = collateral - units(maxAmount, market.collateral);
    expect(left > 0n && left < units('0.0001', market.collateral)).toBe(true);
    await partner.send(await partner.build(MANAGE, { userAddress: user, id, action: 'close', amount: maxAmount }));
    expect(await partner.position(market, id)).toMatchObject({ open: true, collateral: left });
  });

  it('error: LimitExceeded above the collateral of the position, with its amount', async () => {
    const id = await opened();
    const { collateral } = await partner.position(market, id);
    const { error } = await manage({ id, action: 'close', amount: '999999' });
    const maxAmount = formatUnitsPlain(collateral, market.collateral.decimals);
    expect(error).toMatchObject({ code: 'bad_request', details: { field: 'body.amount', limit: { maxAmount } } });
  });
});

describe('close with an amount, at the edges', () => {
  /** Let the lending protocol hold so much of the loan token. */
  async function hold(amount: bigint): Promise<void> {
    const { chain, client, send } = service.world.chains.on(1);
    const [from, token] = [chain.contracts.morphoBlue, market.loan.address];
    const held = await client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [from] });
    await client.impersonateAccount({ address: from });
    await client.setBalance({ address: from, value: 10n ** 20n });
    const args = [OWNER, held - amount] as const;
    await send({ from, to: token, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }) });
  }

  it('error: InsufficientLiquidity if the protocol covers the present debt but not the debt at expiry', async () => {
    const local = service.world.chains.on(1);
    const state = await local.snapshot();
    const id = await opened(6);
    const { collateral, debt } = await partner.position(market, id);
    const shown = (amount: bigint) => formatUnitsPlain(amount, market.collateral.decimals);
    await hold(debt / 2n + 20n);
    const { error } = await manage({ id, action: 'close', amount: shown(collateral / 2n) });
    expect(error).toMatchObject({ code: 'insufficient_liquidity', details: { place: 'protocol' } });
    const { maxAmount } = error.details;
    const bundle = await partner.build(MANAGE, { userAddress: user, id, action: 'close', amount: maxAmount });
    await local.increaseTime(55);
    await partner.send(bundle);
    await local.revert(state);
  });

  it.each([
    ['at its liquidation LTV', '-9', 'Leave amount out to close the whole position', ['repay', 'add_collateral']],
    ['under water', '-19', 'the owner does not have to pay the difference', undefined],
  ])('error: refuses every part of a position %s, and names none', async (_name, percent, way, actions) => {
    const local = service.world.chains.on(1);
    const state = await local.snapshot();
    const id = await opened(6);
    await local.moveOracle(market, percent);
    for (const extra of [{}, { maxSwapLossPct: 50 }]) {
      const { error } = await manage({ id, action: 'close', amount: '100', ...extra });
      const details = { field: 'body.amount', value: '100', limit: { liquidationLtvPct: '91.5' } };
      expect(error).toMatchObject({ code: 'bad_request', details });
      expect(error.message).toContain(way);
    }
    const { error } = await manage({ id, action: 'increase_leverage', leverage: 3 });
    expect(error.details.alternatives?.map((named: Json) => named.action)).toEqual(actions);
    await local.revert(state);
  });

  it('behavior: the worst case includes interest until expiry, and costs have the decimals of their token', async () => {
    const local = service.world.chains.on(1);
    const id = await opened(6);
    const [usdc, { loan, collateral }] = [
      localCatalog.chain(1)?.tokens.find(({ symbol }) => symbol === 'USDC'),
      market,
    ];
    if (!usdc) throw new Error('no USDC');
    for (const token of [usdc, loan, collateral]) await local.mint(token, user, units('100', token));
    for (const fields of [
      { action: 'borrow', amount: '1' },
      { action: 'remove_collateral', amount: '1' },
      { action: 'add_collateral', amount: '1', payToken: collateral.address },
      { action: 'repay', amount: '1', payToken: loan.address },
      { action: 'repay', amount: '33.333333', payToken: usdc.address, slippage: 0.000001 },
    ]) {
      const state = await local.snapshot();
      const { meta, ...bundle } = await partner.build(MANAGE, { userAddress: user, id, ...fields });
      await local.increaseTime(50);
      await partner.send(bundle);
      const { debt, collateral: held } = await partner.position(market, id);
      const price = await local.oraclePrice(market);
      const left = new Decimal(formatUnitsPlain((held * price) / 10n ** 36n - debt, loan.decimals));
      const had = left.plus(meta.positionPreview.worstCase.paidOut ?? 0);
      expect(
        had.gte(meta.positionPreview.worstCase.equity),
        `${fields.action}: ${had} is below ${meta.positionPreview.worstCase.equity}`,
      ).toBe(true);
      for (const { symbol, amount } of meta.positionPreview.costs) {
        const { decimals } = symbol === usdc.symbol ? usdc : loan;
        expect(new Decimal(amount).decimalPlaces()).toBeLessThanOrEqual(decimals);
      }
      await local.revert(state);
    }
  });
});

describe('close of a position that is too large for the venues', () => {
  it('error: names the necessary loss and a smaller part, and both pass', async () => {
    const state = await service.world.chains.on(1).snapshot();
    const id = await opened(8);
    await makeShallow(6_400n);
    const { error } = await manage({ id, action: 'close' });
    expect(error).toMatchObject({ code: 'bad_request', details: { field: 'body.action' } });
    const { maxSwapLossPct, amount } = error.details.limit;
    const accepted = new Decimal(maxSwapLossPct).toNumber();
    await partner.build(MANAGE, { userAddress: user, id, action: 'close', maxSwapLossPct: accepted });
    const part = await partner.build(MANAGE, { userAddress: user, id, action: 'close', amount });
    await partner.send(part);
    expect((await partner.position(market, id)).open).toBe(true);
    await service.world.chains.on(1).revert(state);
  });
});

describe('increase_leverage to below where the position is', () => {
  it.each(['repay', 'add_collateral', 'close'])('error: names %s with a sufficient amount', async (action) => {
    const id = await opened(6);
    const { error } = await manage({ id, action: 'increase_leverage', desiredLtv: '60' });
    expect(error).toMatchObject({ code: 'bad_request', details: { reason: 'nothing_to_do' } });
    const ways: Json[] = error.details.alternatives;
    expect(ways.map((way) => way.action)).toEqual(['repay', 'add_collateral', 'close']);
    const way = ways.find((candidate) => candidate.action === action);
    expect(error.message).toContain(`${action} with amount ${way.amount}`);
    const token = action === 'repay' ? market.loan : market.collateral;
    await service.world.chains.on(1).mint(token, user, units(way.amount, token));
    const payToken = action === 'close' ? {} : { payToken: token.address };
    const bundle = await partner.build(MANAGE, { userAddress: user, id, action, amount: way.amount, ...payToken });
    await partner.send(bundle);
    if (way.thenRepay) {
      const [{ amount }] = bundle.meta.received;
      const repay = { action: 'repay', amount, payToken: market.loan.address };
      await partner.send(await partner.build(MANAGE, { userAddress: user, id, ...repay }));
    }
    const { ltvPct } = await partner.position(market, id);
    expect(ltvPct.minus(60).abs().lte('0.2'), ltvPct.toFixed(4)).toBe(true);
  });
});

describe('minimums and bounds that the caller sets', () => {
  it("behavior: the shown slippage includes the caller's minimum", async () => {
    const id = await opened(3);
    const increase = { userAddress: user, id, action: 'increase_leverage', leverage: 4 };
    const free = await partner.build(MANAGE, increase);
    const expected = new Decimal(free.meta.minTokenOut).div('0.995');
    const minAmountOut = expected.times('0.998').decimalPlaces(6).toFixed();
    const bound = await partner.build(MANAGE, { ...increase, minAmountOut });
    expect(bound.meta.minTokenOut).toBe(minAmountOut);
    expect(bound.meta.slippage).toBeCloseTo(0.002, 4);
    expect(bound.meta.instructions).not.toContain("the contracts' limit");

    const dai = localCatalog.chain(1)?.tokens.find(({ symbol }) => symbol === 'DAI');
    const open = { strategyId: market.id, payToken: dai?.address, amount: '1000', leverage: 3, chainId: 1 };
    const [, least = '0'] = /at least ([\d.]+)\./.exec(
      (await partner.build(BUILD, { ...open, userAddress: user })).meta.instructions,
    ) ?? ['', '0'];
    const floor = new Decimal(least).div('0.995').times('0.998').decimalPlaces(6).toFixed();
    const built = await partner.build(BUILD, { ...open, minAmountOut: floor, userAddress: user });
    expect(built.meta.slippage).toBeCloseTo(0.002, 4);
    const previewed = await service.post('/v1/partner/leverage/simulate', { ...open, minAmountOut: floor }, PARTNER);
    expect(previewed.body.slippage).toBeCloseTo(0.002, 4);
  });

  it("error: does not name a part that the caller's own limit refuses", async () => {
    const id = await opened();
    const bounds = { id, action: 'close', maxSwapLossPct: 0.01 };
    const { error } = await manage(bounds);
    expect(error.details.limit).toMatchObject({ maxTotalLossPct: '0.01' });
    const { amount } = error.details.limit;
    if (amount !== undefined) expect((await manage({ ...bounds, amount })).error).toBeUndefined();
  });

  it('error: a full repayment with a tiny amount is refused with the required amount', async () => {
    const id = await opened();
    const dust = { payToken: localCatalog.chain(1)?.tokens.find(({ symbol }) => symbol === 'DAI')?.address };
    const { error } = await manage({
      id,
      action: 'repay',
      full: true,
      amount: '0.000002',
      maxSwapLossPct: 50,
      ...dust,
    });
    expect(error).toMatchObject({ code: 'bad_request', details: { field: 'body.amount' } });
    expect(error.message).toContain('does not cover the whole debt');
  });

  it('behavior: builds an increase of the size of the rounding', async () => {
    const { collateral } = market;
    const open = { strategyId: market.id, payToken: collateral.address, amount: '1000', leverage: 1.0000001 };
    expect((await partner.build(BUILD, { ...open, userAddress: user })).path).toBe('leverage');
  });
});

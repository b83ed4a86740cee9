import { zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import type { Token } from '../../../src/catalog/index.ts';
import { formatUnitsPlain } from '../../../src/shared/decimal.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { expectPreviewed, marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

let service: TestService;
let onEthereum: Partner;
let onRobinhood: Partner;
const [account, , poor] = untouchedAccounts;
if (!account || !poor) throw new Error('the local world has untouched accounts');
const user = account.address;

beforeAll(async () => {
  service = await startService({ sleep: noSleep, env: { APP_URL: 'https://app.example/' } });
  onEthereum = partnerOn(service, 1, account);
  onRobinhood = partnerOn(service, 4663, account);
}, 120_000);
afterAll(() => service?.stop());

/** Simulate, build, sign and compare with the chain. */
async function open(
  market: string,
  payToken: Token,
  amount: string,
  target: Json,
  chainId = 1,
): Promise<{ id: number; bundle: Json }> {
  const on = marketOf(chainId, market);
  const partner = chainId === 1 ? onEthereum : onRobinhood;
  const id = await partner.nextId();
  const body = { strategyId: on.id, payToken: payToken.address, amount, ...target };
  const simulation = await partner.build('/v1/partner/leverage/simulate', body);
  const bundle = await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user });
  expect(bundle.path).toBe(simulation.path);
  await partner.send(bundle);
  const position = await partner.position(on, id);
  expect(position.open).toBe(true);
  expectPreviewed(position, bundle.meta.positionPreview, on);
  expectPreviewed(position, simulation.positionPreview, on);
  const shown = await service.get(`/v1/partner/positions/${user}?chainId=${chainId}`, PARTNER);
  const listed = shown.body.positions.find((entry: Json) => entry.id === id);
  expect(listed).toMatchObject({ status: 'open', strategyId: on.id });
  expect(Math.abs(Number(listed.ltvPct) - Number(bundle.meta.positionPreview.effectiveLtv))).toBeLessThanOrEqual(
    0.0101,
  );
  expect(listed.amountLeveragedCollateral).toBe(formatUnitsPlain(position.collateral, on.collateral.decimals));
  return { id, bundle };
}

const manage = (id: number, action: string, more: Json = {}, partner: Partner = onEthereum) =>
  partner.build('/v1/partner/manage/build', { userAddress: user, id, action, ...more });

describe('POST /v1/partner/leverage/build', () => {
  it('default: opens with the collateral itself (leverage)', async () => {
    const { bundle } = await open('sUSDe/PYUSD 91.5', tokenOf(1, 'sUSDe'), '1000', { desiredLtv: '80' });
    expect(bundle).toMatchObject({ chainId: 1, action: 'open_leverage', path: 'leverage' });
    expect(bundle.approvals).toHaveLength(1);
    expect(bundle.tx).not.toHaveProperty('value');
    expect(bundle.meta.signingUrl).toMatch(/^https:\/\/app\.example\/sign\?chainId=1&action=open_leverage&/);
    const life = Date.parse(bundle.meta.expiresAt) - service.clock.now();
    expect(life > 0 && life <= 60_000).toBe(true);
  });

  it('default: opens with another token (swapAndLeverage)', async () => {
    const { bundle } = await open('sUSDe/PYUSD 91.5', tokenOf(1, 'USDC'), '2500.5', { leverage: 4 });
    expect(bundle.path).toBe('swapAndLeverage');
  });

  it('default: opens with USDT, whose allowance goes through zero', async () => {
    const usdt = tokenOf(1, 'USDT');
    const first = await open('sUSDS/USDT 96.5', usdt, '500', { leverage: 3 });
    expect(first.bundle.approvals).toHaveLength(1);
    const [approval] = first.bundle.approvals;
    // A smaller allowance that is left over: it has to be reset first.
    await onEthereum.send({
      approvals: [],
      tx: { ...approval, data: approval.data.replace(/.{64}$/, '7'.padStart(64, '0')) },
    });
    const second = await open('sUSDS/USDT 96.5', usdt, '250', { leverage: 3 });
    expect(second.bundle.approvals).toHaveLength(2);
  });

  it('default: opens with ETH', async () => {
    const { bundle } = await open('weETH/WETH 94.5', tokenOf(1, 'ETH'), '2.5', { leverage: 6 });
    expect(bundle.approvals).toEqual([]);
    expect(bundle.tx.value).toBe('2500000000000000000');
  });

  it('default: opens on a principal token, with it and into it', async () => {
    const direct = await open('PT-sUSDe/USDC 91.5', ptToken(), '1000', { leverage: 5 });
    expect(direct.bundle.meta.positionPreview.swapSource).toBe('YieldMarket');
    const swapped = await open('PT-sUSDe/USDC 91.5', tokenOf(1, 'USDC'), '1000', { leverage: 5 });
    expect(swapped.bundle.path).toBe('swapAndLeverage');
  });
});

describe('chain 4663', () => {
  it.each([
    ['its dollar', 'USDG', '750.25'],
    ['the collateral', 'syrupUSDG', '400'],
    ['ETH', 'ETH', '0.3'],
  ])('default: opens and closes with %s', async (_name, pay, amount) => {
    const market = marketOf(4663, 'syrupUSDG/USDG 91.5');
    const { id, bundle } = await open('syrupUSDG/USDG 91.5', tokenOf(4663, pay), amount, { leverage: 6 }, 4663);
    expect(bundle.path).toBe(pay === 'syrupUSDG' ? 'leverage' : 'swapAndLeverage');
    await onRobinhood.send(await manage(id, 'close', {}, onRobinhood));
    expect(await onRobinhood.position(market, id)).toMatchObject({ open: false, collateral: 0n, debt: 0n });
  });

  it('default: opens on an uncorrelated market', async () => {
    const { bundle } = await open('wsNET/USDG 62.5 Longbow', tokenOf(4663, 'USDG'), '500', { leverage: 2 }, 4663);
    expect(bundle.meta.positionPreview.swapSource).toBe('AggregatorOne');
  });
});

function ptToken(): Token {
  return marketOf(1, 'PT-sUSDe/USDC 91.5').collateral;
}

describe('POST /v1/partner/manage/build', () => {
  it('default: every action on one position, and the close returns the rest', async () => {
    const market = marketOf(1, 'sUSDe/PYUSD 91.5');
    const { id } = await open('sUSDe/PYUSD 91.5', market.collateral, '2000', { desiredLtv: '70' });
    const step = async (action: string, more: Json, path: string) => {
      const bundle = await manage(id, action, more);
      expect(bundle).toMatchObject({ action, path });
      await onEthereum.send(bundle);
      const position = await onEthereum.position(market, id);
      if (bundle.meta.positionPreview) expectPreviewed(position, bundle.meta.positionPreview, market);
      return position;
    };
    await step('increase_leverage', { leverage: 5 }, 'increaseLeverage');
    await step('add_collateral', { amount: '100', payToken: market.collateral.address }, 'supplyCollateral');
    await step('add_collateral', { amount: '50', payToken: tokenOf(1, 'USDT').address }, 'swapAndSupplyCollateral');
    await step('add_collateral', { amount: '0.05', payToken: zeroAddress }, 'swapAndSupplyCollateral');
    await step('remove_collateral', { amount: '25.5' }, 'withdrawCollateral');
    await step('borrow', { amount: '40' }, 'borrow');
    await step('repay', { amount: '60', payToken: market.loan.address }, 'repay');
    await step('repay', { amount: '70', payToken: tokenOf(1, 'USDT').address }, 'swapAndRepay');
    const before = await onEthereum.balance(market.loan);
    const bundle = await manage(id, 'close');
    expect(bundle).toMatchObject({ action: 'close', path: 'deleverage', approvals: [] });
    expect(bundle.meta).not.toHaveProperty('positionPreview');
    const held = await onEthereum.position(market, id);
    await onEthereum.send(bundle);
    const after = await onEthereum.position(market, id);
    expect(after).toMatchObject({ open: false, collateral: 0n, debt: 0n });
    const returned = (await onEthereum.balance(market.loan)) - before;
    expect(returned >= units(bundle.meta.minTokenOut, market.loan) - held.debt - 10n).toBe(true);
  });

  it.each([
    ['the loan token', () => marketOf(1, 'sUSDe/PYUSD 91.5').loan, 'repay'],
    ['another token', () => tokenOf(1, 'USDC'), 'swapAndRepay'],
    ['ETH', () => tokenOf(1, 'ETH'), 'swapAndRepay'],
  ])('behavior: a full repayment with %s leaves no dust', async (_name, payToken, path) => {
    const market = marketOf(1, 'sUSDe/PYUSD 91.5');
    const { id } = await open('sUSDe/PYUSD 91.5', market.collateral, '300', { leverage: 3 });
    const bundle = await manage(id, 'repay', { full: true, payToken: payToken().address });
    expect(bundle.path).toBe(path);
    await onEthereum.send(bundle);
    expect(await onEthereum.position(market, id)).toMatchObject({ debt: 0n, open: true });
    const out = await manage(id, 'remove_collateral', { amount: '300' });
    await onEthereum.send(out);
  });
});

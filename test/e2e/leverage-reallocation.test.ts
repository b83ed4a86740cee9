import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untouchedAccounts } from '../../devnet/seed/accounts.ts';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { noSleep, PARTNER, startService, type TestService } from '../support/service.ts';
import { drain, expectPreviewed, marketOf, type Partner, partnerOn, tokenOf } from './leverage-support.ts';

let service: TestService;
let partner: Partner;
const [, account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;

beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  partner = partnerOn(service, 1, account);
}, 120_000);
afterAll(() => service?.stop());

describe('POST /v1/partner/leverage/build', () => {
  it.each([
    ['the collateral itself', 'reallocateAndLeverage', 'wsrUSD', '20000', 0n],
    ['another token', 'reallocateSwapAndLeverage', 'USDT', '20000', 0n],
    ['ETH', 'reallocateSwapAndLeverage', 'ETH', '5', 5n * 10n ** 18n],
  ])('default: brings liquidity in first, paid with %s (%s)', async (_name, path, pay, amount, native) => {
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

  it('error: InsufficientLiquidity where no public allocator is, with both numbers', async () => {
    const market = marketOf(4663, 'syrupUSDG/USDG 91.5');
    await drain(service, market, '1000');
    await service.refresh('lending-state:4663');
    const answer = await service.post(
      '/v1/partner/leverage/simulate',
      { chainId: 4663, strategyId: market.id, payToken: market.collateral.address, amount: '1000', leverage: 5 },
      PARTNER,
    );
    expect(answer.status).toBe(503);
    expect(answer.body.error).toMatchObject({
      code: 'insufficient_liquidity',
      details: {
        symbol: 'USDG',
        available: expect.stringMatching(/^(999|1000)/),
        needed: expect.stringMatching(/^4\d{3}/),
      },
    });
  });

  it('behavior: a market that lends nothing any more lets nobody in deeper, and everybody out', async () => {
    const market = marketOf(4663, 'syrupUSDG/USDG 91.5');
    const local = service.world.chains.on(4663);
    const snapshot = await local.snapshot();
    await drain(service, market, '0');
    const { address: userAddress } = seededWallet('looper').account;
    const payToken = market.loan.address;
    const asked = (body: object) =>
      service.post('/v1/partner/manage/build', { chainId: 4663, userAddress, id: 0, ...body }, PARTNER);
    for (const body of [
      { action: 'borrow', amount: '1' },
      { action: 'increase_leverage', leverage: 5 },
    ]) {
      const { status, body: refused } = await asked(body);
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
      const { status, text } = await asked(body);
      expect(status, text).toBe(200);
    }
    await local.revert(snapshot);
  });

  it('behavior: an oracle that moves between preview and build: what is built goes by the new price', async () => {
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

  it('error: InsufficientLiquidity above what even the allocator could bring', async () => {
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

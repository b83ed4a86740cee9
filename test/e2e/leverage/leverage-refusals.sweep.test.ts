import { zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, labelAddress, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import type { Token } from '../../../src/catalog/index.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { expectEnvelope } from '../known.ts';
import { market, refusedChanges, refusedOpenings } from './refused-inputs.ts';
import { marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

let service: TestService;
let partner: Partner;
const [, , account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const open = { strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 3 };

beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  partner = partnerOn(service, 1, account);
  await partner.send(await partner.build('/v1/partner/leverage/build', { ...open, userAddress: user }));
});
afterAll(() => service?.stop());

async function refused(path: string, body: Json): Promise<Json> {
  const answer = await service.post(path, body, PARTNER);
  return { status: answer.status, ...expectEnvelope(answer, answer.status, answer.body?.error?.code) };
}
const simulate = (change: Json) => refused('/v1/partner/leverage/simulate', { ...open, ...change });
const manage = (body: Json) => refused('/v1/partner/manage/build', { userAddress: user, id: 0, ...body });

describe('POST /v1/partner/leverage/simulate', () => {
  it.each(refusedOpenings)('error: BadRequest for %s', async (_name, change, expected) => {
    expect(await simulate(change)).toMatchObject({ status: 400, code: 'bad_request', ...expected });
  });

  it('behavior: without a chain, the strategy names it', async () => {
    const { id: strategyId, collateral } = marketOf(4663, 'syrupUSDG/USDG 91.5');
    const body = { strategyId, payToken: collateral.address, amount: '1000', leverage: 2, userAddress: user };
    const built = await service.post('/v1/partner/leverage/build', body, PARTNER);
    expect([built.status, built.body?.chainId]).toEqual([200, 4663]);
    expect(await refused('/v1/partner/leverage/build', { ...body, chainId: 1 })).toMatchObject({
      status: 400,
      details: { field: 'body.chainId', value: '1', limit: { oneOf: [4663] } },
      message: expect.stringContaining('Send chainId 4663.'),
    });
  });

  it('behavior: the shown default leverage is accepted', async () => {
    const preview = await partner.build('/v1/partner/leverage/simulate', { ...open, leverage: 10.5 });
    expect(preview.positionPreview.requestedLtv).toBe('90.48');
  });

  it('behavior: a slippage above the cap is lowered and reported', async () => {
    const preview = await partner.build('/v1/partner/leverage/simulate', { ...open, slippage: 0.05 });
    expect(preview.slippage).toBe(0.01);
    expect(preview.note).toContain('0.05');
    const bundle = await partner.build('/v1/partner/leverage/build', { ...open, slippage: 0.05, userAddress: user });
    expect(bundle.meta.slippage).toBe(0.01);
    expect(bundle.meta.instructions).toContain('0.05');
  });

  it('error: LimitExceeded when the swap loses more than the contracts accept', async () => {
    const dear = marketOf(1, 'sDOLA/frxUSD 91.5');
    const answer = await simulate({
      strategyId: dear.id,
      payToken: dear.collateral.address,
      amount: '14000',
      leverage: 10,
      slippage: 0.01,
    });
    expect(answer).toMatchObject({
      code: 'bad_request',
      details: { field: 'body.leverage', limit: { maxPriceImpactPct: '1' } },
    });
  });

  it('error: a refusal of our own parameters by every venue is no statement about routes, and not the fault of the caller', async () => {
    const { faults } = service.world.upstreams;
    faults.set('kyberswap', { kind: 'answer', status: 400, body: { code: 4004, message: 'invalid value' } });
    faults.set('openocean', { kind: 'answer', status: 400, body: { code: 400, error: 'referrer is invalid' } });
    const answer = await simulate({});
    faults.clear();
    expect(answer).toMatchObject({ status: 503, code: 'upstream_unavailable', details: { reason: 'rejected' } });
  });

  it('error: NoRoute has the request and the answers of the venues', async () => {
    const { faults } = service.world.upstreams;
    faults.set('kyberswap', { kind: 'answer', status: 400, body: { code: 4008, message: 'route not found' } });
    faults.set('openocean', { kind: 'answer', status: 400, body: { code: 400, error: 'not find route' } });
    const answer = await simulate({});
    service.world.upstreams.faults.clear();
    expect(answer).toMatchObject({
      status: 503,
      code: 'no_route',
      details: {
        tokenIn: market.loan.address,
        tokenOut: market.collateral.address,
        venues: [
          { source: 'AggregatorOne', answer: 'no_route' },
          { source: 'AggregatorTwo', answer: 'no_route' },
        ],
      },
    });
  });

  it('error: UpstreamUnavailable when no venue answers at all', async () => {
    service.world.upstreams.faults.set('kyberswap', { kind: 'malformed' });
    service.world.upstreams.faults.set('openocean', { kind: 'malformed' });
    const answer = await simulate({});
    service.world.upstreams.faults.clear();
    expect(answer).toMatchObject({ status: 503, code: 'upstream_unavailable' });
  });

  it('behavior: uses the other venue when one fails', async () => {
    service.world.upstreams.faults.set('openocean', { kind: 'malformed' });
    const preview = await partner.build('/v1/partner/leverage/simulate', open);
    service.world.upstreams.faults.clear();
    expect(preview.positionPreview.swapSource).toBe('AggregatorOne');
  });

  it('error: Unauthorized without a key', async () => {
    for (const path of ['leverage/simulate', 'leverage/build', 'manage/build']) {
      expect((await service.post(`/v1/partner/${path}`, open)).status).toBe(401);
    }
  });
});

describe('POST /v1/partner/manage/build', () => {
  it.each(refusedChanges)('error: BadRequest for %s', async (_name, body, expected) => {
    expect(await manage(body)).toMatchObject({ status: 400, code: 'bad_request', ...expected });
  });

  it.each(['remove_collateral', 'borrow'])(
    'behavior: the largest safe amount in a refusal of %s passes',
    async (action) => {
      const { details } = await manage({ action, amount: '5000' });
      const bundle = await partner.build('/v1/partner/manage/build', {
        userAddress: user,
        id: 0,
        action,
        amount: details.limit.maxAmount,
      });
      expect(Number(bundle.meta.positionPreview.effectiveLtv)).toBeGreaterThan(90.4);
      expect(Number(bundle.meta.positionPreview.effectiveLtv)).toBeLessThanOrEqual(90.5);
    },
  );

  it('error: NotEligible for a liquidated and a closed position', async () => {
    const { account: speculator } = seededWallet('speculator');
    const { account: looper } = seededWallet('looper');
    const close = (userAddress: string, id: number) =>
      refused('/v1/partner/manage/build', { userAddress, id, action: 'close' });
    expect(await close(speculator.address, 0)).toMatchObject({
      status: 400,
      details: { reason: 'position_liquidated' },
    });
    expect(await close(looper.address, 1)).toMatchObject({ status: 400, details: { reason: 'position_closed' } });
  });

  it('error: NotEligible for a loop of an equity vault, with a pointer to its exit', async () => {
    const { account: shareholder } = seededWallet('shareholder');
    const answer = await refused('/v1/partner/manage/build', {
      chainId: 4663,
      userAddress: shareholder.address,
      id: 0,
      action: 'close',
    });
    expect(answer).toMatchObject({
      status: 400,
      details: { reason: 'equity_vault', pointer: '/v1/partner/equity/exit/build' },
    });
  });
});

describe('POST /v1/partner/leverage/build', () => {
  it('behavior: a wallet without funds gets its bundle with a note', async () => {
    const nobody = labelAddress('a wallet without anything');
    for (const token of ['sUSDe', 'USDT', 'USDC', 'ETH', 'WETH']) {
      const body = { ...open, payToken: tokenOf(1, token).address, amount: '3.5', userAddress: nobody };
      const bundle = await partner.build('/v1/partner/leverage/build', body);
      expect(bundle.meta.instructions).toContain(`3.5 ${token}`);
      expect(bundle.meta.instructions).not.toContain('NOT_SIMULATED');
    }
  });

  it('error: NotEligible while the contract is paused', async () => {
    const local = service.world.chains.on(1);
    const from = labelAddress('owner');
    const snapshot = await local.snapshot();
    // The contract's owner pauses it: no quote cures that.
    await local.send({ from, to: local.chain.contracts.flashLeverage, data: '0x8456cb59' });
    const answer = await refused('/v1/partner/leverage/build', { ...open, userAddress: user });
    await local.revert(snapshot);
    expect(answer).toMatchObject({
      status: 400,
      code: 'bad_request',
      details: { reason: 'market_closed' },
    });
  });

  it('error: BadRequest for an address that cannot sign', async () => {
    const { contracts } = service.world.chains.on(1).chain;
    for (const userAddress of [zeroAddress, contracts.flashLeverage, contracts.morphoBlue, market.loan.address]) {
      const answer = await refused('/v1/partner/leverage/build', { ...open, userAddress });
      expect(answer).toMatchObject({ status: 400, details: { field: 'body.userAddress', value: userAddress } });
    }
  });

  it('behavior: many wallets at once each get their own bundle', async () => {
    const tokens = ['sUSDe', 'USDT', 'ETH', 'PYUSD'].map((symbol) => tokenOf(1, symbol));
    const wallets = Array.from({ length: 16 }, (_, i) => labelAddress(`one of many ${i}`));
    const bundles = await Promise.all(
      wallets.map((userAddress, i) => {
        const payToken = tokens[i % tokens.length]?.address;
        return partner.build('/v1/partner/leverage/build', { ...open, payToken, amount: `${i + 1}`, userAddress });
      }),
    );
    for (const [i, { path, approvals, tx, meta }] of bundles.entries()) {
      const token = tokens[i % tokens.length];
      expect(meta.instructions).toContain(`${wallets[i]}`);
      expect(meta.instructions).toContain(`this takes ${i + 1} ${token?.symbol}`);
      expect(path).toBe(token === tokens[0] ? 'leverage' : 'swapAndLeverage');
      if (path === 'leverage') expect(tx.data).toContain(wallets[i]?.slice(2).toLowerCase());
      const [approval] = approvals;
      if (token?.isNative) expect([approvals.length, tx.value]).toEqual([0, `${units(`${i + 1}`, token)}`]);
      else expect(BigInt(`0x${approval.data.slice(-64)}`)).toBe(units(`${i + 1}`, token as Token));
    }
  });

  it('behavior: a build never belongs to another wallet', async () => {
    const other = accounts[8]?.address;
    const bundle = await partner.build('/v1/partner/leverage/build', { ...open, userAddress: other });
    expect(bundle.tx.data.toLowerCase()).toContain(other?.slice(2).toLowerCase());
  });
});

describe('stale data', () => {
  it('error: StaleData for a silent oracle with fresh market state', async () => {
    const local = service.world.chains.on(1);
    const code = await local.client.getCode({ address: market.oracle });
    // INVALID: every call of it reverts.
    await local.client.setCode({ address: market.oracle, bytecode: '0xfe' });
    service.clock.advance(901_000);
    await local.increaseTime(901);
    await service.refresh('lending-state:1');
    const details = { group: 'oracle', staleAfterSec: 900, staleForSec: expect.any(Number) };
    expect(await simulate({})).toMatchObject({ status: 503, code: 'stale_data', details });
    for (const action of ['close', 'borrow']) {
      const body = action === 'close' ? { action } : { action, amount: '1' };
      expect(await manage(body)).toMatchObject({ status: 503, code: 'stale_data', details });
    }
    const { status, body } = await service.get(`/v1/strategies/${market.id}`);
    expect([status, body.freshness.borrow.staleForSec]).toEqual([200, undefined]);
    await local.client.setCode({ address: market.oracle, bytecode: code ?? '0x' });
    await service.refresh('lending-state:1');
    expect((await service.post('/v1/partner/leverage/simulate', open, PARTNER)).status).toBe(200);
  });

  it('error: StaleData stops builds, and reads continue', async () => {
    const { asOf, staleAfterSec } = (await service.get(`/v1/strategies/${market.id}`)).body.freshness.borrow;
    service.clock.advance(Date.parse(asOf) + (staleAfterSec + 1) * 1_000 - service.clock.now());
    const simulation = await simulate({});
    expect(simulation).toMatchObject({
      status: 503,
      code: 'stale_data',
      details: { group: 'lendingState', staleAfterSec: 300, staleForSec: 1 },
    });
    expect(await manage({ action: 'close' })).toMatchObject({ status: 503, code: 'stale_data' });
    const list = await service.get('/v1/strategies');
    expect(list.status).toBe(200);
    expect(list.body.strategies[0].freshness.borrow.staleForSec).toBeGreaterThan(0);
    await service.refresh('lending-state:1');
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { OWNER, TREASURY, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { erc20Abi } from '../../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import type { Market, Token } from '../../../src/catalog/index.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { passing } from '../../support/equity.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, type Partner, partnerOn, units } from './support.ts';

let service: TestService;
let partner: Partner;
const [, account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;

/** Fees at the most that the contract allows, ten times the usual buffer. No time passes, so that all of it holds to the unit. */
beforeAll(async () => {
  const deployment = { depositFee: 10n ** 16n, yieldFee: 10n ** 17n, liquidationBuffer: 25n * 10n ** 15n };
  service = await startService({ sleep: passing(() => service), deployment, fetch: globalThis.fetch });
  partner = partnerOn(service, 1, account);
  await local().client.setBlockTimestampInterval({ interval: 0 });
});
afterAll(() => service?.stop());

const local = () => service.world.chains.on(1);
const held = ({ address }: Token, owner = TREASURY) =>
  partner.client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
const basisOf = async (id: number) =>
  (
    await partner.client.readContract({
      address: local().chain.contracts.flashLeverage,
      abi: flashLeverageAbi,
      functionName: 'getUserLeveragePosition',
      args: [user, BigInt(id)],
    })
  ).amountDepositedInLoanToken;
const shown = async (id: number): Promise<Json> => {
  const { body } = await service.get(`/v1/partner/positions/${user}?chainId=1`, PARTNER);
  return body.positions.find((position: Json) => position.id === id);
};
const manage = (id: number, action: string, more: Json = {}) =>
  partner.build('/v1/partner/manage/build', { userAddress: user, id, action, ...more });

/** Send a bundle: its fees equal the treasury's receipt, and its basis equals the contract's. */
async function sendExactly({ loan, collateral }: Market, id: number, bundle: Json): Promise<Json> {
  const tokens = [loan, collateral];
  const before = await Promise.all(tokens.map((token) => held(token)));
  await partner.send(bundle);
  const after = await Promise.all(tokens.map((token) => held(token)));
  const reported = tokens.map((token) =>
    bundle.meta.positionPreview.costs
      .filter(({ kind, symbol }: Json) => kind.endsWith('_FEE') && kind !== 'REFERRAL_FEE' && symbol === token.symbol)
      .reduce((sum: bigint, { amount }: Json) => sum + units(amount, token), 0n),
  );
  expect(after.map((balance, i) => balance - (before[i] ?? 0n))).toEqual(reported);
  const basis = bundle.meta.positionPreview?.depositBasis;
  if (basis !== undefined) {
    expect(units(basis, loan)).toBe(await basisOf(id));
    expect((await shown(id)).amountDepositedInLoanToken).toBe(basis);
  }
  return bundle;
}
const kindsOf = ({ meta }: Json) =>
  meta.positionPreview.costs.map(({ kind }: Json) => kind).filter((kind: string) => /^(DEPOSIT|YIELD)_FEE$/.test(kind));

/** Let swaps of a market's collateral cost nothing: they fill at the oracle price. */
async function sellAtOracle({ collateral, loan }: Market): Promise<void> {
  const { swapRouters } = local().chain;
  for (const router of new Set(Object.values(swapRouters).flatMap((routers) => routers ?? []))) {
    const free = [collateral, loan].map(({ address }) => address);
    await local().call(OWNER, router, 'SwapVenue', 'setFee', [0n]);
    const prices = [];
    for (const token of free) {
      const usd = await partner.client.readContract({
        address: router,
        abi: venueAbi,
        functionName: 'priceOf',
        args: [token],
      });
      prices.push({ token, usdPerToken: token === collateral.address ? 0n : usd, depthUsd: 0n });
    }
    await local().call(OWNER, router, 'SwapVenue', 'setPrices', [prices]);
  }
}
const venueAbi = [
  {
    type: 'function',
    name: 'priceOf',
    stateMutability: 'view',
    inputs: [{ name: 'token', type: 'address' }],
    outputs: [{ name: '', type: 'uint256' }],
  },
] as const;

const FLOWS = [
  ['correlated', 'sUSDe/PYUSD 91.5', '1000', 'YIELD_FEE'],
  ['uncorrelated', 'WBTC/USDC 86', '0.5', 'DEPOSIT_FEE'],
] as const;

it.each(FLOWS)(
  'behavior: every step on %s markets shows its fee and the deposit basis after it to the unit',
  async (kind, key, amount, feeKind) => {
    const market = marketOf(1, key);
    const { collateral, loan } = market;
    const isCorrelated = kind === 'correlated';
    const share = (part: string) => new Decimal(amount).times(part).toFixed();
    const id = await partner.nextId();
    const body = { strategyId: market.id, payToken: collateral.address, amount, desiredLtv: '50' };
    const preview = await partner.build('/v1/partner/leverage/simulate', body);
    const opened = await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user });
    expect(preview.positionPreview.depositBasis).toBe(opened.meta.positionPreview.depositBasis);
    await sendExactly(market, id, opened);
    expect(opened.meta).not.toHaveProperty('depositBasisBefore');
    expect(kindsOf(opened)).toEqual(isCorrelated ? [] : ['DEPOSIT_FEE']);
    if (isCorrelated) await local().moveOracle(market, '4');

    const added = await manage(id, 'add_collateral', { amount: share('0.1'), payToken: collateral.address });
    expect(added.meta.depositBasisBefore).toBe(opened.meta.positionPreview.depositBasis);
    await sendExactly(market, id, added);
    await sendExactly(market, id, await manage(id, 'borrow', { amount: '12.345678' }));
    await sendExactly(market, id, await manage(id, 'repay', { amount: '10.000001', payToken: loan.address }));
    await sendExactly(market, id, await manage(id, 'increase_leverage', { desiredLtv: '60' }));
    const taken = await sendExactly(market, id, await manage(id, 'remove_collateral', { amount: share('0.02') }));
    expect(kindsOf(taken)).toEqual(isCorrelated ? ['YIELD_FEE'] : []);
    await expectPaused(market, id);
    const part = await sendExactly(market, id, await manage(id, 'close', { amount: share('0.3') }));
    expect(part.meta.positionPreview).toHaveProperty('depositBasis');
    expect(kindsOf(part)).toEqual(isCorrelated ? [feeKind] : []);

    await sellAtOracle(market);
    const { closeNow, amountDepositedInLoanToken } = await shown(id);
    const [treasury, wallet] = [await held(loan), await held(loan, user)];
    await sendExactly(market, id, await manage(id, 'close'));
    const [fee, paid] = [(await held(loan)) - treasury, (await held(loan, user)) - wallet];
    expect({ fee, paid }).toEqual({ fee: units(closeNow.yieldFee, loan), paid: units(closeNow.paysOut, loan) });
    expect(fee > 0n).toBe(isCorrelated);
    expect(new Decimal(closeNow.pnlAfterFee).plus(amountDepositedInLoanToken).eq(closeNow.paysOut)).toBe(true);
    expect(new Decimal(closeNow.pnlBeforeFee).minus(closeNow.pnlAfterFee).eq(closeNow.yieldFee)).toBe(true);
    expect(await shown(id)).toMatchObject({ status: 'closed', closeNow: null });
  },
);

/** While it is paused every action is refused for one reason, and the contract refuses earlier bundles. */
async function expectPaused(market: Market, id: number): Promise<void> {
  const { flashLeverage } = local().chain.contracts;
  const body = { chainId: 1, userAddress: user, id };
  const pays = { amount: '0.01', payToken: market.collateral.address };
  const open = { chainId: 1, strategyId: market.id, ...pays, desiredLtv: '50' };
  const built = await manage(id, 'close');
  await local().call(OWNER, flashLeverage, 'FlashLeverage', 'pause', []);
  for (const [path, requested] of [
    ['leverage/simulate', open],
    ['leverage/build', { ...open, userAddress: user }],
    ['manage/build', { ...body, action: 'add_collateral', ...pays }],
    ['manage/build', { ...body, action: 'borrow', amount: '1' }],
    ['manage/build', { ...body, action: 'repay', full: true, payToken: market.loan.address }],
    ['manage/build', { ...body, action: 'increase_leverage', desiredLtv: '70' }],
    ['manage/build', { ...body, action: 'remove_collateral', amount: '0.001' }],
    ['manage/build', { ...body, action: 'close', amount: '0.01' }],
    ['manage/build', { ...body, action: 'close' }],
  ] as const) {
    const { status, body: refused } = await service.post(`/v1/partner/${path}`, requested, PARTNER);
    expect([path, status, refused.error?.details?.reason]).toEqual([path, 400, 'market_closed']);
    expect(refused.error.message).toContain('paused by its owner');
  }
  await expect(partner.send(built)).rejects.toThrow(/EnforcedPause|0xd93c0665/);
  expect(await shown(id)).toMatchObject({ open: true, closeNow: { yieldFee: expect.any(String) } });
  await local().call(OWNER, flashLeverage, 'FlashLeverage', 'unpause', []);
}

it('behavior: markets, strategies and chains show the fees of the contract', async () => {
  const treasury = TREASURY;
  const query = `{ chain(chainId: 1) { fees { yieldFeePct depositFeePct treasury freshness { staleAfterSec } } gaps { field } } }`;
  const { body } = await service.graphql(query);
  expect(body.data.chain).toEqual({
    fees: { yieldFeePct: '10', depositFeePct: '1', treasury, freshness: { staleAfterSec: 900 } },
    gaps: [],
  });
  const freshness = expect.objectContaining({ asOf: expect.any(String) });
  for (const [kind, key] of FLOWS) {
    const { id } = marketOf(1, key);
    const fees = kind === 'correlated' ? ['10', '0'] : ['0', '1'];
    const strategy = (await service.get(`/v1/strategies/${id}`)).body;
    expect(strategy.fees).toEqual({ yieldFeePct: fees[0], depositFeePct: fees[1], treasury, freshness });
    const app = (await service.get('/v1/app/markets')).body.markets.find((market: Json) => market.id === id);
    expect(app.fees).toEqual({ yieldFeePct: { $bn: fees[0] }, depositFeePct: { $bn: fees[1] }, treasury, freshness });
  }
});

import { zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import type { Market, Token } from '../../../src/catalog/index.ts';
import { Decimal, formatUnitsPlain } from '../../../src/shared/decimal.ts';
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
});
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
      if (position.open) expectPreviewed(position, bundle.meta.positionPreview, market);
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
    expect(bundle.meta.positionPreview).not.toHaveProperty('effectiveLtv');
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

describe('GET /v1/partner/positions/{address}/{id}/deleverage-options', () => {
  const optionsOf = (id: number, query: string) =>
    service.get(`/v1/partner/positions/${user}/${id}/deleverage-options?${query}`, PARTNER);
  const equityOf = async (on: Market, id: number) => {
    const { collateral, debt } = await onEthereum.position(on, id);
    const price = await service.world.chains.on(1).oraclePrice(on);
    return new Decimal(formatUnitsPlain((collateral * price) / 10n ** 36n - debt, on.loan.decimals));
  };
  /** Build a step with the real payout of the step before, and send it. */
  const take = async (id: number, { action, amount, token, full, fromProceeds }: Json, proceeds: string) => {
    const payToken = action === 'close' ? {} : { payToken: token };
    const sum = full ? { full } : { amount: fromProceeds ? proceeds : amount };
    const bundle = await manage(id, action, { ...payToken, ...sum });
    await onEthereum.send(bundle);
  };

  it.each([
    ['sUSDe/PYUSD 91.5', '1000', '80', '70'],
    ['WBTC/USDC 86', '0.1', '75', '60'],
  ])(
    'behavior: each option of %s, executed, ends at its target at the previewed cost',
    async (key, amount, ltv, to) => {
      const local = service.world.chains.on(1);
      const on = marketOf(1, key);
      await local.mint(on.collateral, user, units(amount, on.collateral));
      const { id } = await open(key, on.collateral, amount, { desiredLtv: ltv });
      const { body } = await optionsOf(id, `targetLtvPct=${to}`);
      expect(body).toMatchObject({ needed: true, targetLtvPct: to, id });
      expect(body.options.map((option: Json) => option.action).sort()).toEqual(['add_collateral', 'close', 'repay']);
      const costs = body.options.map((option: Json) => Number(option.costUsd));
      expect(costs).toEqual([...costs].sort((a, b) => a - b));
      expect(body.cheapest).toBe(body.options[0].action);
      for (const { action, steps, costUsd, preview, unavailable } of body.options) {
        expect(unavailable, action).toBeNull();
        const state = await local.snapshot();
        for (const { token, amount: paid, fromProceeds } of steps) {
          const paidWith = [on.loan, on.collateral].find(({ address }) => address === token);
          if (action !== 'close' && !fromProceeds && paidWith) await local.mint(paidWith, user, units(paid, paidWith));
        }
        const [held, equity] = [await onEthereum.balance(on.loan), await equityOf(on, id)];
        for (const step of steps) {
          const proceeds = formatUnitsPlain((await onEthereum.balance(on.loan)) - held, on.loan.decimals);
          await take(id, step, proceeds);
        }
        const { ltvPct } = await onEthereum.position(on, id);
        expect(ltvPct.lte(to), `${action}: ${ltvPct.toFixed()}`).toBe(true);
        expect(ltvPct.gte(new Decimal(to).minus('0.01')), `${action}: ${ltvPct.toFixed()}`).toBe(true);
        const left = await equityOf(on, id);
        expect(left.div(preview.positionPreview.equity).toNumber(), action).toBeCloseTo(1, 5);
        const price = await local.oraclePrice(on);
        const paidIn =
          action === 'close'
            ? new Decimal(0)
            : action === 'repay'
              ? new Decimal(steps[0].amount)
              : new Decimal(
                  formatUnitsPlain((units(steps[0].amount, on.collateral) * price) / 10n ** 36n, on.loan.decimals),
                );
        const lost = equity.plus(paidIn).minus(left);
        // The loan tokens are worth a dollar, to a hundredth; a cent is the rounding.
        const off = lost.minus(costUsd).abs();
        expect(off.lte(lost.abs().times('0.01').plus('0.05')), `${action}: ${lost.toFixed(4)}, ${costUsd}`).toBe(true);
        await local.revert(state);
      }
    },
  );

  describe('an option that is not possible now', () => {
    /** The options over REST and over GraphQL, which have to be the same. */
    const reasonsOf = async (id: number, targetLtvPct: string) => {
      const { status, body } = await optionsOf(id, `targetLtvPct=${targetLtvPct}`);
      expect(status, JSON.stringify(body)).toBe(200);
      const query = `query ($wallet: Address!, $id: PositionId!, $targetLtvPct: Decimal) { position(wallet: $wallet, id: $id) {
        deleverageOptions(targetLtvPct: $targetLtvPct) { ... on DeleverageOptions { options { action unavailable { code message retryable } } } } } }`;
      const typed = await service.graphql(query, { wallet: user, id: `1-${id}`, targetLtvPct }, PARTNER);
      expect(typed.body.errors).toBeUndefined();
      expect(typed.body.data.position.deleverageOptions.options).toEqual(
        body.options.map(({ action, unavailable: why }: Json) => ({
          action: action.toUpperCase(),
          unavailable: why && { ...why, code: why.code.toUpperCase() },
        })),
      );
      return Object.fromEntries(body.options.map((option: Json) => [option.action, option.unavailable]));
    };
    const heldAt = async (desiredLtv: string) => {
      const on = marketOf(1, 'sUSDe/PYUSD 91.5');
      await service.world.chains.on(1).mint(on.collateral, user, units('100', on.collateral));
      const { id } = await open('sUSDe/PYUSD 91.5', on.collateral, '100', { desiredLtv });
      return { on, id };
    };

    it('behavior: at the liquidation LTV the sale has its reason, the others are possible', async () => {
      const { on, id } = await heldAt('85');
      const local = service.world.chains.on(1);
      const state = await local.snapshot();
      await local.moveOracle(on, '-8');
      const reasons = await reasonsOf(id, '80');
      await local.revert(state);
      const close = { code: 'bad_request', message: expect.stringContaining('liquidation LTV'), retryable: false };
      expect(reasons).toEqual({ repay: null, add_collateral: null, close });
    });

    it('behavior: a position under water is named with its amounts, over REST and GraphQL', async () => {
      const { on, id } = await heldAt('85');
      const local = service.world.chains.on(1);
      const state = await local.snapshot();
      await local.moveOracle(on, '-20');
      const query = `query ($wallet: Address!, $id: PositionId!) { position(wallet: $wallet, id: $id) {
        deleverageOptions { ... on DeleverageOptions { underWater { code debtAmount collateralValueAmount excessAmount excessUsd message } } } } }`;
      const [{ body }, typed, equity] = await Promise.all([
        optionsOf(id, ''),
        service.graphql(query, { wallet: user, id: `1-${id}` }, PARTNER),
        equityOf(on, id),
      ]);
      await local.revert(state);
      const { underWater } = body;
      expect(underWater).toMatchObject({ code: 'under_water', message: expect.stringContaining(underWater.excess) });
      const { debt, collateralValue, excess, ...rest } = underWater;
      expect(new Decimal(debt).minus(collateralValue).toFixed()).toBe(excess);
      // Between both readings lies the interest of a few blocks.
      expect(equity.plus(excess).abs().toNumber()).toBeLessThan(0.01);
      expect(typed.body.errors).toBeUndefined();
      expect(Object.keys(rest).sort()).toEqual(['code', 'excessUsd', 'message']);
      const both = typed.body.data.position.deleverageOptions.underWater;
      expect(both.code).toBe('UNDER_WATER');
      expect(new Decimal(both.excessAmount).minus(excess).abs().toNumber()).toBeLessThan(0.01);
      expect(new Decimal(both.debtAmount).minus(both.collateralValueAmount).toFixed()).toBe(both.excessAmount);
    });

    it('behavior: without a venue the sale has its reason, the others are possible', async () => {
      const { id } = await heldAt('80');
      const { faults } = service.world.upstreams;
      for (const venue of ['kyberswap', 'openocean'] as const) faults.set(venue, { kind: 'malformed' });
      const reasons = await reasonsOf(id, '70').finally(() => faults.clear());
      const close = { code: 'upstream_unavailable', message: expect.any(String), retryable: true };
      expect(reasons).toEqual({ repay: null, add_collateral: null, close });
    });

    it('behavior: a target or a bound that only one option misses is the reason of that option', async () => {
      const { id } = await heldAt('80');
      const tiny = await reasonsOf(id, '0.0000000000000001');
      expect(tiny.repay).toBeNull();
      expect(tiny.add_collateral).toMatchObject({ message: expect.stringContaining('LTV of 0.0000000000000001 %') });
      const { status, body } = await optionsOf(id, 'targetLtvPct=70&maxSwapLossPct=0');
      expect(status).toBe(200);
      const sale = body.options.find(({ action }: Json) => action === 'close');
      expect(sale.unavailable.message).toContain('maxSwapLossPct');
    });
  });

  it('behavior: of a position below its safe LTV nothing has to be done', async () => {
    await service.world.chains.on(1).mint(tokenOf(1, 'sUSDe'), user, units('100', tokenOf(1, 'sUSDe')));
    const { id } = await open('sUSDe/PYUSD 91.5', tokenOf(1, 'sUSDe'), '100', { desiredLtv: '50' });
    const { body } = await optionsOf(id, '');
    expect(body).toMatchObject({ needed: false, options: [], cheapest: null, cheapestAffordable: null });
    expect(body).toMatchObject({ excessDebt: '0', targetLtvPct: body.safeLtvPct.replace(/0+$/, '') });
  });

  it('error: BadRequest for a target beyond the limits of the market, NotFound for another position', async () => {
    const refused = await optionsOf(0, 'targetLtvPct=91.4');
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({
      code: 'bad_request',
      details: { field: 'query.targetLtvPct', value: '91.4', limit: { max: '91.25' } },
    });
    const both = await optionsOf(0, 'targetLtvPct=80&targetHeadroomPct=5');
    expect(both.body.error).toMatchObject({ code: 'bad_request', details: { field: 'query.targetHeadroomPct' } });
    expect((await optionsOf(4_000, '')).status).toBe(404);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { formatUnitsPlain } from '../../../src/shared/decimal.ts';
import { type AdversarialVenues, startAdversarialVenues } from '../../support/adversarial-venues.ts';
import { noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

const BUILD = '/v1/partner/leverage/build';
const MANAGE = '/v1/partner/manage/build';
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const usdc = tokenOf(1, 'USDC');
let venues: AdversarialVenues;
let service: TestService;
let partner: Partner;

beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      venues = await startAdversarialVenues(world);
      return venues.env;
    },
  });
  partner = partnerOn(service, 1, account);
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await venues?.stop();
});
afterEach(() => venues.clear());

/** Both venues keep basis points of their fills, always or a number of times. */
const skim = (bps: number, times?: number) => {
  for (const provider of ['kyberswap', 'openocean'] as const) {
    venues.lie(provider, { kind: 'skim', ppm: BigInt(bps) * 100n }, undefined, times);
  }
};
const open = { strategyId: market.id, slippage: 0.01, userAddress: user };
const OPENS = {
  leverage: { ...open, payToken: market.collateral.address, amount: '10000', leverage: 10.5 },
  swapAndLeverage: { ...open, payToken: usdc.address, amount: '1000', leverage: 3 },
};

/** A new position, opened while the venues are honest. */
async function opened(): Promise<number> {
  await service.world.chains.on(1).mint(market.collateral, user, units('1000', market.collateral));
  const id = await partner.nextId();
  const body = { ...OPENS.leverage, amount: '1000', leverage: 5 };
  await partner.send(await partner.build(BUILD, body));
  return id;
}

describe('a build whose swap returns less in simulation than its quote', () => {
  it.each(Object.keys(OPENS) as (keyof typeof OPENS)[])(
    'error: simulation_mismatch for 72 bp missing from the fill of %s',
    async (path) => {
      skim(72);
      const { status, body } = await service.post(BUILD, { chainId: 1, ...OPENS[path] }, PARTNER);
      expect([status, body.error?.code]).toEqual([503, 'simulation_mismatch']);
      const { expected, simulated, ...rest } = body.error.details;
      expect(Number(simulated) / Number(expected)).toBeCloseTo(1 - 0.0072, 4);
      expect(rest).toEqual({
        of: 'swap_output',
        symbol: 'sUSDe',
        tolerancePct: expect.stringMatching(/^0\.(19|20)$/),
        source: expect.any(String),
      });
    },
  );

  it('error: simulation_mismatch for 72 bp missing from the fill of every swap of managing', async () => {
    const id = await opened();
    skim(72);
    const actions = [
      { action: 'close' },
      { action: 'increase_leverage', leverage: 8 },
      { action: 'add_collateral', payToken: usdc.address, amount: '100' },
      { action: 'repay', payToken: usdc.address, amount: '100' },
    ];
    for (const action of actions) {
      const body = { chainId: 1, userAddress: user, id, slippage: 0.01, ...action };
      const answer = await service.post(MANAGE, body, PARTNER);
      expect([action.action, answer.status, answer.body.error?.code]).toEqual([
        action.action,
        503,
        'simulation_mismatch',
      ]);
    }
  });

  it('behavior: requests quotes once more, and builds on good ones', async () => {
    skim(72, 1);
    const bundle = await partner.build(BUILD, OPENS.leverage);
    expect(bundle.path).toBe('leverage');
  });

  it('behavior: a loss within the tolerance is previewed as simulated and executes as previewed', async () => {
    skim(15);
    await service.world.chains.on(1).mint(market.collateral, user, units('10000', market.collateral));
    const id = await partner.nextId();
    const bundle = await partner.build(BUILD, OPENS.leverage);
    await partner.send(bundle);
    const held = await partner.position(market, id);
    const { amountLeveragedCollateral, effectiveLtv } = bundle.meta.positionPreview;
    expect(formatUnitsPlain(held.collateral, market.collateral.decimals)).toBe(amountLeveragedCollateral);
    expect(held.ltvPct.minus(effectiveLtv).abs().lte('0.006')).toBe(true);
  });
});

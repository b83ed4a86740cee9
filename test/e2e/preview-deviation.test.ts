import { afterAll, beforeAll, expect, it } from 'vitest';
import { passing } from '../support/equity.ts';
import { type Json, startService, type TestService } from '../support/service.ts';
import { account, user } from '../support/vaults.ts';
import { marketOf, type Partner, partnerOn, tokenOf } from './leverage-support.ts';

/** The table of docs/reliability.md: the largest difference between what a plan says and what the chain says afterwards. */
const BOUND_POINTS = 0.011;

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: passing(() => service) });
}, 120_000);
afterAll(() => service?.stop());

const CASES = [
  [1, 'sUSDe/PYUSD 91.5', 'USDC', '700', '20'],
  [1, 'WBTC/USDC 86', 'USDT', '3000', '50'],
  [4663, 'syrupUSDG/USDG 91.5', 'USDe', '700', '20'],
] as const;

it.each(CASES)(
  'behavior: chain %i, %s: every action ends at the LTV of its plan',
  async (chainId, key, pay, amount, more) => {
    const market = marketOf(chainId, key);
    const partner: Partner = partnerOn(service, chainId, account);
    const payToken = tokenOf(chainId, pay).address;
    const off = new Map<string, number>();
    const note = async (name: string, id: number, bundle: Json) => {
      await partner.send(bundle);
      const { ltvPct } = await partner.position(market, id);
      const points = ltvPct.minus(bundle.meta.positionPreview.effectiveLtv).abs().toNumber();
      off.set(name, Math.max(off.get(name) ?? 0, points));
    };
    for (const leverage of [1.5, 2, 3, 4]) {
      const id = await partner.nextId();
      const open = { strategyId: market.id, payToken, amount, leverage, userAddress: user };
      await note('open', id, await partner.build('/v1/partner/leverage/build', open));
      const manage = (action: string, fields: object) =>
        partner.build('/v1/partner/manage/build', { userAddress: user, id, action, ...fields });
      await note('increase_leverage', id, await manage('increase_leverage', { leverage: leverage + 1 }));
      await note('repay', id, await manage('repay', { amount: more, payToken }));
      await note('add_collateral', id, await manage('add_collateral', { amount: more, payToken }));
      await note('borrow', id, await manage('borrow', { amount: '5' }));
    }
    for (const [name, points] of off) expect(points, name).toBeLessThan(BOUND_POINTS);
  },
);

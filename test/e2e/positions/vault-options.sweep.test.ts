import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';

const { address } = seededWallet('shareholder').account;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('behavior: no option for the loop of a vault is possible, each names the exit of the vault, and that exit is built', async () => {
  const { body } = await service.get(`/v1/partner/positions/${address}?chainId=4663`, PARTNER);
  const [vault] = body.equityPositions;
  const [loop] = vault.yieldLoops;
  const path = `/v1/partner/positions/${address}/${loop.positionId}/deleverage-options?targetLtvPct=80`;
  const { status, body: found } = await service.get(path, PARTNER);
  expect([status, found.needed, found.cheapest, found.cheapestAffordable]).toEqual([200, true, null, null]);
  expect(found.options.map(({ action }: Json) => action).sort()).toEqual(['add_collateral', 'close', 'repay']);
  for (const { unavailable, preview, costUsd } of found.options) {
    expect([preview, costUsd, unavailable.retryable]).toEqual([null, null, false]);
    expect(unavailable.message).toContain(`belongs to the equity vault ${vault.strategyId} and is not managed alone`);
    expect(unavailable.message).toContain('/v1/partner/equity/exit/build');
  }
  const exit = { strategyId: vault.strategyId, userAddress: address };
  expect(await service.post('/v1/partner/equity/exit/build', exit, PARTNER)).toMatchObject({ status: 200 });
});

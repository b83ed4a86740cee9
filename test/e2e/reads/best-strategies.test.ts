import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Json, startService, type TestService } from '../../support/service.ts';
import { tokenOf } from '../leverage/support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('default: every listed equity vault is left out, with the reason, and none is ranked', async () => {
  const usdg = tokenOf(4663, 'USDG');
  const query = `chainId=4663&amount=10000&payToken=${usdg.address}&maxDrawdownPct=5&minExitUsd=10000&limit=100`;
  const { status, body } = await service.get(`/v1/best-strategies?${query}`);
  expect(status).toBe(200);
  const { body: all } = await service.get('/v1/strategies?chainId=4663');
  const vaults = all.strategies.map(({ id }: Json) => id).filter((id: string) => id.startsWith('equity-'));
  expect(vaults.length).toBeGreaterThan(0);
  const fellOut = body.excluded.filter(({ reason }: Json) => reason === 'EQUITY_VAULT').map(({ id }: Json) => id);
  expect(fellOut.sort()).toEqual(vaults.sort());
  expect(body.ranked.filter(({ id }: Json) => id.startsWith('equity-'))).toEqual([]);
  expect(body.ranked.length).toBeGreaterThan(0);
});

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

test('error: an amount worth less than 1 USD, whose rank rounding would decide, is refused', async () => {
  const usdg = tokenOf(4663, 'USDG');
  const ask = (amount: string) =>
    service.get(`/v1/best-strategies?amount=${amount}&payToken=${usdg.address}&maxDrawdownPct=5&minExitUsd=0`);
  for (const amount of ['0', '0.00000001', '0.98']) {
    const { status, body } = await ask(amount);
    expect({ status, field: body.error?.details?.field }).toEqual({ status: 400, field: 'query.amount' });
  }
  const { status, body } = await ask('1.02');
  expect({ status, isRanked: body.ranked.length > 0 }).toEqual({ status: 200, isRanked: true });
});

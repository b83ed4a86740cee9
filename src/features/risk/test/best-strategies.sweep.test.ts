import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenOf } from '../../../../test/e2e/leverage/support.ts';
import { type Json, startService, type TestService } from '../../../../test/support/service.ts';

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

test('behavior: more safety never gives a better result, and rows without a positive result come last and say so', async () => {
  const { address } = tokenOf(1, 'USDC');
  const query = `chainId=1&amount=25000&payToken=${address}&minExitUsd=0&holdingDays=180&limit=100`;
  const rankedFor = async (drawdown: number): Promise<readonly Json[]> =>
    (await service.get(`/v1/best-strategies?${query}&maxDrawdownPct=${drawdown}`)).body.ranked;
  let bolder = await rankedFor(0);
  for (const drawdown of [5, 10, 20, 40]) {
    const careful = await rankedFor(drawdown);
    expect(careful.length).toBeGreaterThan(0);
    for (const row of careful) {
      const same = bolder.find(({ id }) => id === row.id);
      expect(Number(row.netApyPct)).toBeLessThanOrEqual(Number(same?.netApyPct));
      expect(Number(row.leverage)).toBeLessThanOrEqual(Number(row.largestLeverage));
      expect(Number(row.largestLeverage)).toBeLessThanOrEqual(Number(same?.largestLeverage));
    }
    bolder = careful;
  }
  const rows = await rankedFor(5);
  expect(rows.some(({ isPositive }) => isPositive)).toBe(true);
  const firstWithout = rows.findIndex(({ isPositive }) => !isPositive);
  if (firstWithout >= 0) expect(rows.slice(firstWithout).some(({ isPositive }) => isPositive)).toBe(false);
  for (const { isPositive, netApyPct } of rows)
    expect(Number(netApyPct) * (isPositive ? 1 : -1)).toBeGreaterThanOrEqual(0);
});

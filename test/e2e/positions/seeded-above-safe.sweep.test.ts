import { afterAll, beforeAll, expect, test } from 'vitest';
import { Decimal } from '../../../src/shared/decimal.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';

const WALLET = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('default: a seeded position is above its safe and below its liquidation LTV, so that there is something to do at once', async () => {
  const { body } = await service.get(`/v1/partner/positions/${WALLET}`, PARTNER);
  const answers: Json[] = [];
  for (const { id, status } of body.positions) {
    if (status !== 'open') continue;
    const answer = await service.get(`/v1/partner/positions/${WALLET}/${id}/deleverage-options`, PARTNER);
    answers.push(answer.body);
  }
  const needed = answers.filter(({ needed }) => needed);
  expect(needed).toHaveLength(1);
  const [found] = needed;
  expect(new Decimal(found.ltvPct).gt(found.safeLtvPct)).toBe(true);
  expect(new Decimal(found.ltvPct).lt(found.maxLtvPct)).toBe(true);
  expect(found.options.map(({ action }: Json) => action).sort()).toEqual(['add_collateral', 'close', 'repay']);
  expect(found.options.filter(({ preview }: Json) => preview !== null).length).toBeGreaterThanOrEqual(2);
  expect(found.cheapest).toBe(found.options[0].action);
  expect(found.underWater).toBeNull();
  for (const { action, steps, simulatedGas, gasUsd, unavailable } of found.options) {
    if (unavailable) {
      expect([action, simulatedGas, gasUsd]).toEqual([action, undefined, null]);
      continue;
    }
    // Of a sale the repayment is simulated after it.
    const gas = steps.map((step: Json) => Number(step.simulatedGas));
    for (const one of gas) expect(one, action).toBeGreaterThan(21_000);
    expect(Number(simulatedGas), action).toBe(gas.reduce((sum: number, one: number) => sum + one, 0));
    expect(Number(gasUsd), action).toBeGreaterThan(0);
  }
});

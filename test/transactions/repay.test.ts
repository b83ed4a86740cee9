import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { LimitExceededError } from '../../src/transactions/errors.ts';
import { repayPath } from './model/paths.ts';

/** The largest slippage: the least fill is one percent below the expected one. */
const slippage = new Decimal('0.01');
const honest = () => undefined;
const repay = (amount?: string) =>
  repayPath({ full: true, slippage, amount: amount === undefined ? undefined : new Decimal(amount) });

describe('repaying the whole debt with another token', () => {
  test('behavior: is sized so that the least fill covers the debt', async () => {
    const built = await repay().build('right', honest);
    expect(built.execute()).not.toBe('reverted');
  });

  test('error: LimitExceeded where only the expected fill covers it, naming an amount that passes', async () => {
    const refused = await repay('6010')
      .build('right', honest)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LimitExceededError);
    const { minAmount, sufficientAmount } = (refused as LimitExceededError).details?.limit ?? {};
    // A smaller one may pass: it is no limit.
    expect(minAmount).toBeUndefined();
    expect(Number(sufficientAmount)).toBeGreaterThan(6_060);
    const built = await repay(String(sufficientAmount)).build('right', honest);
    expect(built.execute()).not.toBe('reverted');
  });
});

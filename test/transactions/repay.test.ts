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

  test('edge: LimitExceeded where the least fill covers the debt of now, but not that with the interest of half an hour', async () => {
    const refusalOf = async (amount: string): Promise<Decimal> => {
      const error = await repay(amount)
        .build('right', honest)
        .catch((refused: unknown) => refused);
      expect(error).toBeInstanceOf(LimitExceededError);
      return new Decimal(String((error as LimitExceededError).details?.limit?.sufficientAmount));
    };
    // Without its margin of 1 %, the sufficient amount gives at least the 6,000.004945 that are owed then.
    const covering = (await refusalOf('6010')).div('1.01');
    const short = covering.times('6000.002').div('6000.004945');
    expect((await refusalOf(short.toFixed(6))).gt(covering)).toBe(true);
    const built = await repay(covering.plus('0.001').toFixed(6)).build('right', honest);
    expect(built.execute()).not.toBe('reverted');
  });
});

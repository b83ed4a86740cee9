import { describe, expect, test } from 'vitest';
import { oracleDivergence, withJump } from '../../src/domain/market/oracle-divergence.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { chainOf, DAY, marketOf, NOW_MS } from './world.ts';

const market = marketOf(chainOf(1), 'weETH', 'WETH');
const oracleAt = (price: string) => ({ price: BigInt(new Decimal(price).shiftedBy(36).toFixed(0)), blockNumber: 1n });
const loanUsd = new Decimal(2_000);
const priced = (usd: number, source = 'coingecko') => ({ value: { usd: new Decimal(usd) }, source });

describe('oracleDivergence', () => {
  test.each([
    ['1.2', 2_400, undefined],
    ['1.3', 2_400, undefined],
    ['1.33', 2_400, '10.83'],
    ['1.08', 2_400, '-10.00'],
    ['0.66', 2_400, '-45.00'],
    ['1200000000000', 2_400, '99999999999900.00'],
  ])('behavior: an oracle at %s WETH beside a price of %d USD: %s', (price, usd, expected) => {
    const found = oracleDivergence({ market, oracle: oracleAt(price), loanUsd, price: priced(usd) });
    expect(found?.divergencePct.toFixed(2)).toBe(expected);
    if (found) expect(found).toMatchObject({ against: 'price', referenceUsd: new Decimal(usd) });
  });

  test('behavior: without a price of its own the value before a jump stands in; with one the jump does not count', () => {
    const jumped = { ...oracleAt('0.66'), before: { price: oracleAt('1.2').price, atMs: NOW_MS } };
    const alone = { market, oracle: jumped, loanUsd };
    expect(oracleDivergence({ ...alone, price: undefined })?.against).toBe('before');
    expect(oracleDivergence({ ...alone, price: priced(1_320, 'oracle') })?.divergencePct.toFixed(2)).toBe('-45.00');
    expect(oracleDivergence({ ...alone, price: priced(1_320) })).toBeUndefined();
    expect(oracleDivergence({ ...alone, price: undefined, loanUsd: undefined })).toBeUndefined();
  });
});

describe('withJump', () => {
  const known = oracleAt('1.2');
  const jumped = withJump(oracleAt('0.66'), known, NOW_MS);

  test('default: a jump of more than 20 % is remembered with the value before it, a smaller one is not', () => {
    expect(jumped.before).toEqual({ price: known.price, atMs: NOW_MS });
    expect(withJump(oracleAt('1.43'), known, NOW_MS)).not.toHaveProperty('before');
    expect(withJump(known, undefined, NOW_MS)).toBe(known);
  });

  test('behavior: for a day, while it lasts, and against the value that was before all of it', () => {
    const hourLater = withJump(oracleAt('0.4'), jumped, NOW_MS + DAY / 24);
    expect(hourLater.before).toEqual(jumped.before);
    expect(withJump(oracleAt('0.4'), hourLater, NOW_MS + DAY + 1)).not.toHaveProperty('before');
    expect(withJump(oracleAt('1.25'), hourLater, NOW_MS + DAY / 12)).not.toHaveProperty('before');
  });
});

import { describe, expect, test } from 'vitest';
import { isPossiblePrice } from '../../src/domain/market/oracle-range.ts';
import { chainOf } from './world.ts';

const [market] = chainOf(1).markets;
if (!market) throw new Error('a market expected');
const of = (collateralDecimals: number, loanDecimals: number) => ({
  collateral: { ...market.collateral, decimals: collateralDecimals },
  loan: { ...market.loan, decimals: loanDecimals },
});

describe('isPossiblePrice', () => {
  test.each([
    [18, 6],
    [6, 18],
    [8, 18],
    [18, 18],
    [0, 36],
    [36, 0],
  ])('default: %s and %s decimals: a ratio of 10^18 at most, either way', (collateral, loan) => {
    const tokens = of(collateral, loan);
    const one = 10n ** BigInt(36 + loan - collateral);
    const most = one * 10n ** 18n;
    const least = one / 10n ** 18n > 0n ? one / 10n ** 18n : 1n;
    for (const price of [one, most, least]) expect(isPossiblePrice(price, tokens), String(price)).toBe(true);
    for (const price of [0n, -1n, most + 1n, least - 1n, most * 1_000n])
      expect(isPossiblePrice(price, tokens), String(price)).toBe(false);
  });

  test('behavior: the price of one pair of tokens is impossible for another one', () => {
    const price = 10n ** BigInt(36 + 18 - 6);
    expect(isPossiblePrice(price, of(6, 18))).toBe(true);
    expect(isPossiblePrice(price, of(18, 6))).toBe(false);
  });
});

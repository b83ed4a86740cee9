import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal, formatUnitsPlain, ratio, toFixedHalfUp } from '../../src/shared/decimal.ts';
import { manyRuns } from '../support/property-runs.ts';

/** Many digits and few, large and small, both signs, and often just at a half. */
const anyDecimal = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.integer({ min: 0, max: 45 }),
    fc.constantFrom('', '5', '49', '50', '4999999999999999', '5000000000000001', '99999', '00000'),
  )
  .map(([digits, places, tail]) => new Decimal(`${digits}${tail}`).shiftedBy(-places));

describe('toFixedHalfUp', () => {
  test.each([
    ['1.005', 2, '1.01'],
    ['-1.005', 2, '-1.01'],
    ['1.00499999999999999999', 2, '1.00'],
    ['-0.004', 2, '0.00'],
    ['-0', 1, '0.0'],
    ['0.995', 2, '1.00'],
    ['99999999999999.995', 2, '100000000000000.00'],
    ['123456789012345678.125', 2, '123456789012345678.13'],
    ['2.5', 0, '3'],
  ])('default: %s to %i places', (value, places, shown) => {
    expect(toFixedHalfUp(new Decimal(value), places)).toBe(shown);
  });

  test('behavior: the same digits as general rounding, and never a negative zero', () => {
    fc.assert(
      fc.property(anyDecimal, fc.integer({ min: 0, max: 14 }), (value, places) => {
        const general = value.toFixed(places, Decimal.ROUND_HALF_UP);
        expect(toFixedHalfUp(value, places)).toBe(Number(general) === 0 ? general.replace('-', '') : general);
      }),
      manyRuns(),
    );
  });
});

const anyUnits = fc.bigInt({ min: -(2n ** 128n), max: 2n ** 128n });

describe('ratio', () => {
  test('behavior: equals a general division', () => {
    fc.assert(
      fc.property(
        anyUnits,
        anyUnits.filter((units) => units !== 0n),
        (numerator, denominator) => {
          const general = new Decimal(numerator).div(new Decimal(denominator));
          expect(ratio(numerator, denominator).toFixed()).toBe(general.isZero() ? '0' : general.toFixed());
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('formatUnitsPlain', () => {
  test.each([
    [0n, 18, '0'],
    [1n, 18, '0.000000000000000001'],
    [-1_500_000n, 6, '-1.5'],
    [120n, 0, '120'],
    [10n ** 30n, 18, '1000000000000'],
  ] as const)('default: %s with %i decimals', (units, decimals, shown) => {
    expect(formatUnitsPlain(units, decimals)).toBe(shown);
  });

  test('behavior: equals the text of the exact decimal', () => {
    fc.assert(
      fc.property(anyUnits, fc.integer({ min: 0, max: 36 }), (units, decimals) => {
        expect(formatUnitsPlain(units, decimals)).toBe(new Decimal(units).shiftedBy(-decimals).toFixed());
      }),
      { numRuns: 1_000 },
    );
  });
});

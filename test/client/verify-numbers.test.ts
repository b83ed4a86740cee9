import { describe, expect, test } from 'vitest';
import { wadOf } from '../../packages/client/src/verify/numbers.ts';

describe('wadOf', () => {
  test('behavior: takes every slippage of a form, percent / 100', () => {
    for (let hundredths = 1; hundredths <= 100; hundredths += 1) {
      const ratio = hundredths / 100 / 100;
      const wad = wadOf(ratio, 'slippage');
      // The exact decimal text of the double is within a unit of the ratio.
      const exact = BigInt(hundredths) * 10n ** 14n;
      expect(wad - exact > -10n && wad - exact < 10n, `${ratio}`).toBe(true);
    }
  });

  test.each([
    [0.57 / 100, 18, 5699999999999999n],
    [0.07 / 100, 18, 700000000000000n],
    ['0.0007000000000000001', 18, 700000000000000n],
    [1e-7, 18, 100000000000n],
    [1.5e-9, 18, 1500000000n],
    ['1e-7', 18, 100000000000n],
    [1e-30, 18, 0n],
    ['80.123456789012345678', 16, 801234567890123456n],
    [0.005, 18, 5000000000000000n],
    ['90', 16, 900000000000000000n],
  ])('reads %s with %i places', (value, places, expected) => {
    expect(wadOf(value, 'ratio', places)).toBe(expected);
  });

  test.each(['', '-1', '1e21', 1e21, '0x1', '1.', '.5', ' 1', Number.NaN, -0.1, '1'.repeat(7), `0.${'1'.repeat(60)}`])(
    'error: VerificationError for %s',
    (value) => {
      expect(() => wadOf(value, 'ratio')).toThrow('ratio of the intent is');
    },
  );
});

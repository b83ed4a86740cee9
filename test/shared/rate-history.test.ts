import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { firstMsOf, isRateHistory, packHistory, pointsOf } from '../../src/shared/rate-history.ts';

const ratePct = fc
  .tuple(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.integer({ min: 0, max: 24 }))
  .map(([digits, places]) => new Decimal(digits.toString()).shiftedBy(-places));
const points = fc.array(fc.record({ atMs: fc.integer({ min: 0, max: 4e12 }), ratePct }));

describe(packHistory, () => {
  test('default', () => {
    expect(packHistory([{ atMs: 86_400_000, ratePct: new Decimal('4.10') }])).toBe('86400000:4.1');
  });

  test('behavior: the same points come back, exactly', () => {
    fc.assert(
      fc.property(points, (given) => {
        const shown = (all: typeof given) => all.map(({ atMs, ratePct: pct }) => [atMs, pct.toFixed()]);
        const history = packHistory(given);
        expect(shown([...pointsOf(history)])).toEqual(shown(given));
        expect(isRateHistory(history)).toBe(true);
      }),
    );
  });
});

describe(firstMsOf, () => {
  test('default', () => {
    expect(firstMsOf(packHistory([12, 24].map((atMs) => ({ atMs, ratePct: new Decimal(4) }))))).toBe(12);
  });

  test('error: RangeError for an empty one', () => {
    expect(() => firstMsOf(packHistory([]))).toThrow(RangeError);
  });
});

describe(isRateHistory, () => {
  test.each(['1', '1:', ':1', '1:2,', '1:2,3', '1:NaN', '1:1e5', '1:2;3:4', ' 1:2', '1:2\n', '1:2.', '1:.5', '0x1:2'])(
    'error: "%s" is none',
    (text) => {
      expect(isRateHistory(text)).toBe(false);
    },
  );

  test.each([undefined, null, 5, [], {}])('error: %s is none', (value) => {
    expect(isRateHistory(value)).toBe(false);
  });
});

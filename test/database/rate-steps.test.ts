import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSteps, writeSteps } from '../../src/database/rate-steps.ts';
import { Decimal } from '../../src/shared/decimal.ts';

const ratePct = fc
  .tuple(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.integer({ min: 0, max: 24 }))
  .map(([digits, places]) => new Decimal(digits.toString()).shiftedBy(-places));
const points = fc.array(fc.record({ atMs: fc.integer({ min: 0, max: 4e12 }), ratePct }));

describe(writeSteps, () => {
  test('default', () => {
    expect(writeSteps([{ atMs: 86_400_000, ratePct: new Decimal('4.10') }])).toBe('86400000:4.1');
  });

  test('behavior: returns the same points exactly', () => {
    fc.assert(
      fc.property(points, (given) => {
        const shown = (all: typeof given) => all.map(({ atMs, ratePct: pct }) => [atMs, pct.toFixed()]);
        const history = writeSteps(given);
        expect(shown([...(readSteps(history) ?? [])])).toEqual(shown(given));
      }),
    );
  });
});

describe(readSteps, () => {
  test.each(['1', '1:', ':1', '1:2,', '1:2,3', '1:NaN', '1:1e5', '1:2;3:4', ' 1:2', '1:2\n', '1:2.', '1:.5', '0x1:2'])(
    'error: "%s" is not a step',
    (text) => {
      expect(readSteps(text)).toBeUndefined();
    },
  );

  test.each([undefined, null, 5, [], {}])('error: %s is not a step', (value) => {
    expect(readSteps(value)).toBeUndefined();
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAdmissionFilter } from '../../src/shared/admission-filter.ts';

describe('createAdmissionFilter', () => {
  test('default: a key is new once', () => {
    const cameBefore = createAdmissionFilter(4);
    expect(['a', 'a', 'b', '', '', 'a'].map(cameBefore)).toEqual([false, true, false, false, true, true]);
  });

  test('behavior: knows recent keys, after any earlier ones', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 200 }), (keys) => {
        const cameBefore = createAdmissionFilter(10);
        return keys.every((key, at) => {
          const known = cameBefore(`key ${key}`);
          const recent = new Set(keys.slice(Math.max(0, at - 9), at));
          return known || !recent.has(key);
        });
      }),
    );
  });

  test('behavior: old keys are forgotten', () => {
    const cameBefore = createAdmissionFilter(100);
    cameBefore('first');
    for (let i = 0; i < 1_000; i += 1) cameBefore(`other ${i}`);
    expect(cameBefore('first')).toBe(false);
  });
});

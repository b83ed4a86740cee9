import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repeatedKey } from '../../src/rest/json.ts';

const RUNS = { numRuns: 10_000 };

describe(repeatedKey, () => {
  test('behavior: nothing that was written from an object has a key twice', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        expect(repeatedKey(JSON.stringify(value, null, indent))).toBeUndefined();
      }),
      RUNS,
    );
  });

  test('behavior: a key of an object that is repeated in it is found, however deep', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), fc.nat(4), (key, first, second, depth) => {
        const entry = (value: unknown) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`;
        const twice = `{${entry(first)},${entry(second)}}`;
        const text = `${'[{"around":'.repeat(depth)}${twice}${'}]'.repeat(depth)}`;
        expect(repeatedKey(text)).toBe(key);
      }),
      RUNS,
    );
  });

  test('behavior: brackets, colons and quotes in texts are texts', () => {
    expect(repeatedKey('{"a":"{\\"a\\":1}","b":["a","a",":"],"c":{"a":"\\\\"}}')).toBeUndefined();
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkStructure, MAX_JSON_DEPTH } from '../../src/rest/json.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import { manyRuns } from '../support/property-runs.ts';

const RUNS = manyRuns();

const refusal = (text: string) => {
  try {
    checkStructure(text, 'body', () => true);
    return undefined;
  } catch (error) {
    if (error instanceof BadRequestError) return error.details;
    throw error;
  }
};

describe(checkStructure, () => {
  test('behavior: serialised objects have no repeated key', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        expect(refusal(JSON.stringify(value, null, indent))).toBeUndefined();
      }),
      RUNS,
    );
  });

  test('error: bad_request for a repeated key at any depth, naming its place', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), fc.nat(4), (key, first, second, depth) => {
        const entry = (value: unknown) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`;
        const twice = `{${entry(first)},${entry(second)}}`;
        const text = `${'[{"around":'.repeat(depth)}${twice}${'}]'.repeat(depth)}`;
        const place = `body.${'0.around.'.repeat(depth)}${key}`;
        expect(refusal(text)?.field).toBe(place.length > 80 ? `${place.slice(0, 77)}...` : place);
      }),
      RUNS,
    );
  });

  test('behavior: brackets, colons and quotes in strings are strings', () => {
    expect(refusal('{"a":"{\\"a\\":1}","b":["a","a",":"],"c":{"a":"\\\\"}}')).toBeUndefined();
    expect(refusal(`["${'['.repeat(100)}"]`)).toBeUndefined();
  });

  test('error: bad_request for nesting beyond the limit, naming the place; at the limit it is allowed', () => {
    const nested = (depth: number) => `${'[1,'.repeat(depth)}0${']'.repeat(depth)}`;
    expect(refusal(nested(MAX_JSON_DEPTH))).toBeUndefined();
    expect(refusal(nested(MAX_JSON_DEPTH + 1))).toEqual({
      field: `body.${'1.'.repeat(31)}1`,
      limit: { max: MAX_JSON_DEPTH },
    });
    expect(refusal(`{"variables":{"ids":${nested(40)}}}`)?.field).toMatch(/^body\.variables\.ids\.1\.1/);
    expect(refusal(nested(30_000))?.field).toMatch(/^body\.1/);
  });
});

import { buildASTSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createQueries } from '../../src/graphql/queries.ts';
import { QueryTooComplexError } from '../../src/limits/query-too-complex.ts';
import { createLimits } from '../../src/limits/tier-limits.ts';

const OURS = 'query Ours { chains { chainId } }';
const limits = createLimits({ anonymous: 0, partner: 0, ops: 0 });
const create = () => createQueries({ limits, persistedPoints: (text) => (text === OURS ? 3 : undefined) });

describe('createQueries', () => {
  test('default: reads a text once, and a known valid text costs nothing', () => {
    const queries = create();
    const theirs = '{ chains { name } }';
    const document = queries.read(theirs, 'anonymous');
    expect(queries.readingCost(theirs, 'anonymous').whole).toBeGreaterThan(0);
    // Invalid documents are not cached: each may be different.
    expect(queries.read(theirs, 'partner')).not.toBe(document);
    queries.noteValid(document);
    expect(queries.read(theirs, 'partner')).toBe(document);
    expect(queries.isValid(document)).toBe(true);
    expect(queries.readingCost(theirs, 'anonymous').whole).toBe(0);
  });

  test('behavior: documents of callers displace only documents of callers', () => {
    const queries = create();
    const theirs = '{ chains { name } }';
    const [ours, other] = [OURS, theirs].map((text) => queries.read(text, 'anonymous'));
    for (let i = 0; i < 2_000; i += 1) queries.read(`query Q${i} { chains { name } }`, 'anonymous');
    expect(queries.read(OURS, 'anonymous')).toBe(ours);
    expect(queries.read(theirs, 'anonymous')).not.toBe(other);
  });

  test('behavior: few long documents displace as much as many short ones', () => {
    const queries = create();
    const before = queries.read('{ chains { name } }', 'anonymous');
    for (let i = 0; i < 30; i += 1) queries.read(`#${'x'.repeat(9_000)}${i}\n{ chains { name } }`, 'anonymous');
    expect(queries.read('{ chains { name } }', 'anonymous')).not.toBe(before);
  });

  test('error: query_too_complex for one tier, although another tier sent it before', () => {
    const queries = create();
    const wide = `{ ${Array.from({ length: limits.anonymous.aliases + 1 }, (_, i) => `a${i}: b`).join(' ')} }`;
    queries.noteValid(queries.read(wide, 'ops'));
    expect(() => queries.read(wide, 'ops')).not.toThrow();
    expect(() => queries.read(wide, 'anonymous')).toThrow(QueryTooComplexError);
  });

  test('behavior: validation ends after a few errors, and only the first has a suggestion', () => {
    const queries = create();
    const schema = buildASTSchema(parse('type Query { chains: Int strategies: Int }'));
    const document = queries.read('{ chainz strategiez a b c d e f }', 'anonymous');
    const errors = queries.validate(schema, document, undefined, true).map(({ message }) => message);
    expect(errors.length).toBeLessThanOrEqual(6);
    expect(errors[0]).toContain('Did you mean "chains"?');
    expect(errors[1]).toContain('"strategiez"');
    for (const message of errors.slice(1)) expect(message).not.toContain('Did you mean');
    for (const { message } of queries.validate(schema, document, undefined, false)) {
      expect(message).not.toContain('Did you mean');
    }
  });
});

import { describe, expect, test } from 'vitest';
import { createLimits } from '../../src/server/limits.ts';
import { createQueries } from '../../src/server/queries.ts';
import { QueryTooComplexError } from '../../src/server/query-limits.ts';

const OURS = 'query Ours { chains { chainId } }';
const limits = createLimits({ anonymous: 0, partner: 0, ops: 0 });
const create = () => createQueries({ limits, persistedPoints: (text) => (text === OURS ? 3 : undefined) });

describe('createQueries', () => {
  test('default: a text is read once, and known to be valid once that was found', () => {
    const queries = create();
    const document = queries.read(OURS, 'anonymous');
    expect(queries.read(OURS, 'partner')).toBe(document);
    expect(queries.valid(OURS, 'anonymous')).toBeUndefined();
    queries.noteValid(document);
    expect(queries.valid(OURS, 'anonymous')).toMatchObject({ document, points: 3 });
  });

  test('behavior: what callers write displaces only what callers wrote', () => {
    const queries = create();
    const theirs = '{ chains { name } }';
    for (const text of [OURS, theirs]) queries.noteValid(queries.read(text, 'anonymous'));
    for (let i = 0; i < 2_000; i += 1) queries.read(`query Q${i} { chains { name } }`, 'anonymous');
    expect(queries.valid(OURS, 'anonymous')).toBeDefined();
    expect(queries.valid(theirs, 'anonymous')).toBeUndefined();
  });

  test('behavior: few long documents displace what many short ones do', () => {
    const queries = create();
    queries.noteValid(queries.read('{ chains { name } }', 'anonymous'));
    for (let i = 0; i < 30; i += 1) queries.read(`#${'x'.repeat(9_000)}${i}\n{ chains { name } }`, 'anonymous');
    expect(queries.valid('{ chains { name } }', 'anonymous')).toBeUndefined();
  });

  test('error: query_too_complex for one tier, though another has it read already', () => {
    const queries = create();
    const wide = `{ ${Array.from({ length: limits.anonymous.aliases + 1 }, (_, i) => `a${i}: b`).join(' ')} }`;
    queries.noteValid(queries.read(wide, 'ops'));
    expect(queries.valid(wide, 'ops')).toBeDefined();
    expect(queries.valid(wide, 'anonymous')).toBeUndefined();
    expect(() => queries.read(wide, 'anonymous')).toThrow(QueryTooComplexError);
  });
});

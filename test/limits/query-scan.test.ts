import { describe, expect, test } from 'vitest';
import { type Scan, scanDocument } from '../../src/limits/query-scan.ts';

const LIMITS = { tokens: 1_000, lines: 1_000, brackets: 20, selections: 200, fragments: 20 };
const scan = (text: string, limits: Partial<typeof LIMITS> = {}) => scanDocument(text, { ...LIMITS, ...limits });
const times = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ');

describe('scanDocument', () => {
  test('default: comments and commas are not tokens; arguments, values and variables are not selections', () => {
    expect(scan('{ a, b # c d e\n}')).toMatchObject({ tokens: 4, brackets: 1, selections: 2, fragments: 0 });
    expect(
      scan('query Q($a: Int = 1) @d(x: y) { c: a(b: { d: [1, e] }) { f @g(h: i) ...F } } fragment F on T { j }'),
    ).toMatchObject({ brackets: 4, selections: 4, fragments: 1 });
  });

  test.each([
    ['tokens', 'a '.repeat(2_000)],
    ['brackets', `{a${'[{('.repeat(10)}`],
    ['brackets', `{a(b:${'['.repeat(3_900)}`],
    ['selections', `{${'a '.repeat(300)}}`],
    ['selections', `{${'...F '.repeat(300)}}`],
    ['fragments', times(21, (i) => `fragment F${i} on T{a}`)],
    ['fragments', `{${times(21, (i) => `...F${i}`)}}`],
  ])('error: stops beyond the limit of %s', (measure, text) => {
    expect(scan(text)).toBe(measure);
    // The rest is not read.
    expect(scan(`${text} "unterminated`)).toBe(measure);
  });

  test('error: invalid characters', () => {
    expect(() => scan('{ ^ }')).toThrow('Syntax Error');
  });

  test('behavior: comparisons of validation cost by pairs', () => {
    const costOf = (text: string) =>
      (scan(text, { tokens: 1e6, selections: 1e6, fragments: 1e6 }) as Scan).validationCost;
    const simple = costOf(`{${times(200, (i) => `f${i}`)}}`);
    expect(costOf(`{${'f '.repeat(200)}}`)).toBeGreaterThan(simple * 10);
    const chain = (length: number) => costOf(`{...F0} ${times(length, (i) => `fragment F${i} on T{...F${i + 1}}`)}`);
    expect(chain(40)).toBeGreaterThan(3 * chain(20));
    expect(costOf(times(100, (i) => `query Q${i}{...F}`))).toBeGreaterThan(simple * 10);
  });
});

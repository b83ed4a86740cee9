import { describe, expect, it } from 'vitest';
import { type ContentEncoding, chooseEncoding, matchesTag } from '../../src/http/compression.ts';

const all = () => true;

describe('chooseEncoding', () => {
  it('default: the ready encoding with the highest weight, the smaller one of equals', () => {
    const cases: [string | undefined, ContentEncoding][] = [
      [undefined, 'identity'],
      ['', 'identity'],
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['x-gzip', 'gzip'],
      ['GZIP;Q=1.0, br;q=0.2', 'gzip'],
      ['*', 'br'],
      ['*;q=0.1, identity', 'identity'],
      ['br;q=0, *', 'gzip'],
      ['br;q=0, gzip;q=0', 'identity'],
      ['zstd, compress', 'identity'],
      ['br;q=nonsense', 'identity'],
    ];
    for (const [header, encoding] of cases) expect([header, chooseEncoding(header, all)]).toEqual([header, encoding]);
  });

  it('behavior: does not select an encoding that is not ready', () => {
    expect(chooseEncoding('br, gzip', (encoding) => encoding === 'gzip')).toBe('gzip');
    expect(chooseEncoding('br, gzip', () => false)).toBe('identity');
  });

  it('behavior: many different headers do not grow memory', () => {
    for (let n = 0; n < 1_000; n += 1) expect(chooseEncoding(`x${n}, br`, all)).toBe('br');
  });
});

describe('matchesTag', () => {
  it('default: compares whole tags, weakly', () => {
    expect(matchesTag(undefined, '"a"')).toBe(false);
    for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) expect(matchesTag(header, '"a"')).toBe(true);
    for (const header of ['"ab"', 'a', '"a-br"', '']) expect(matchesTag(header, '"a"')).toBe(false);
  });
});

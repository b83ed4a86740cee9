import { describe, expect, it } from 'vitest';
import { type Coding, chooseCoding, namesTag } from '../../src/rest/encoding.ts';

const all = () => true;

describe('chooseCoding', () => {
  it('default: the heaviest coding that is ready, of equals the smaller one', () => {
    const cases: [string | undefined, Coding][] = [
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
    for (const [header, coding] of cases) expect([header, chooseCoding(header, all)]).toEqual([header, coding]);
  });

  it('behavior: what is not ready is not chosen', () => {
    expect(chooseCoding('br, gzip', (coding) => coding === 'gzip')).toBe('gzip');
    expect(chooseCoding('br, gzip', () => false)).toBe('identity');
  });

  it('behavior: endless different headers do no harm', () => {
    for (let n = 0; n < 1_000; n += 1) expect(chooseCoding(`x${n}, br`, all)).toBe('br');
  });
});

describe('namesTag', () => {
  it('default: compares whole tags, weakly', () => {
    expect(namesTag(undefined, '"a"')).toBe(false);
    for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) expect(namesTag(header, '"a"')).toBe(true);
    for (const header of ['"ab"', 'a', '"a-br"', '']) expect(namesTag(header, '"a"')).toBe(false);
  });
});

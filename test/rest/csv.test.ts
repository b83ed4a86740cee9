import { describe, expect, test } from 'vitest';
import { toCsv } from '../../src/rest/csv.ts';

describe('toCsv', () => {
  test.each([
    [['a', 'b'], 'a,b\r\n'],
    [['1.5', '-2', null], '1.5,-2,\r\n'],
    [['=1+1', '+x', '@x', '-x', '\tx'], "'=1+1,'+x,'@x,'-x,'\tx\r\n"],
    [['a,b', 'say "x"', 'two\nlines'], '"a,b","say ""x""","two\nlines"\r\n'],
  ])('behavior: %j', (row, text) => {
    expect(toCsv([row])).toBe(text);
  });
});

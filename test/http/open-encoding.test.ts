import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closeBody, compressOpen, slowCrc32 } from '../../src/http/open-encoding.ts';

describe('closeBody', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 3_000 }).map((chars) => Buffer.from(chars));
  const end = fc.string({ minLength: 1, maxLength: 400 }).map((chars) => Buffer.from(chars));

  test('default: a beginning that is compressed once takes any ends', async () => {
    await fc.assert(
      fc.asyncProperty(text, end, end, fc.constantFrom('thorough', 'quick'), async (begin, first, second, effort) => {
        const open = await compressOpen(begin, effort as 'quick');
        for (const added of [first, second]) {
          const whole = Buffer.concat([begin, added]);
          expect(gunzipSync(Buffer.concat(closeBody(open, 'gzip', added))).equals(whole)).toBe(true);
          expect(brotliDecompressSync(Buffer.concat(closeBody(open, 'br', added))).equals(whole)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  test.each([1, 255, 256, 65_534, 65_535])('behavior: an end of %i bytes', async (bytes) => {
    const open = await compressOpen(Buffer.from('a'.repeat(5_000)), 'quick');
    const added = Buffer.alloc(bytes, 'b');
    const whole = Buffer.concat([Buffer.from('a'.repeat(5_000)), added]);
    expect(gunzipSync(Buffer.concat(closeBody(open, 'gzip', added))).equals(whole)).toBe(true);
    expect(brotliDecompressSync(Buffer.concat(closeBody(open, 'br', added))).equals(whole)).toBe(true);
  });

  test('default: the check sum without that of zlib is the same', () => {
    expect(slowCrc32(Buffer.from('123456789'), 0)).toBe(0xcbf43926);
    expect(slowCrc32(Buffer.from('456789'), slowCrc32(Buffer.from('123'), 0))).toBe(0xcbf43926);
  });
});

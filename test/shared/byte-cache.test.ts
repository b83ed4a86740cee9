import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteCache } from '../../src/shared/byte-cache.ts';

const SIZE = 10;
const named = (name: string) => ({ name });
const create = (maxBytes = 800) => createByteCache<{ name: string }>({ maxBytes, bytesOf: () => SIZE });

describe('createByteCache', () => {
  it('default: returns a value and counts its bytes', () => {
    const cache = create();
    cache.set('a', named('a'));
    expect(cache.get('a')).toEqual({ name: 'a' });
    expect(cache.get('a')).toEqual({ name: 'a' });
    expect(cache.get('b')).toBeUndefined();
    expect([cache.bytes, cache.entries, cache.maxBytes]).toEqual([SIZE, 1, 800]);
    cache.delete('a');
    expect([cache.get('a'), cache.bytes, cache.entries]).toEqual([undefined, 0, 0]);
  });

  it('behavior: values without a second request use at most an eighth', () => {
    const cache = create();
    for (let n = 0; n < 1_000; n += 1) cache.set(`n${n}`, named('x'));
    expect([cache.bytes, cache.entries]).toEqual([100, 10]);
    expect(cache.peek('n990')).toBeDefined();
    expect(cache.peek('n989')).toBeUndefined();
  });

  it('behavior: repeated values are not displaced by others', () => {
    const cache = create();
    cache.set('popular', named('popular'));
    cache.get('popular');
    for (let n = 0; n < 1_000; n += 1) cache.set(`n${n}`, named('x'));
    expect(cache.peek('popular')).toBeDefined();
  });

  it('behavior: a peek does not count as a request', () => {
    const cache = create();
    cache.set('looked-at', named('x'));
    cache.peek('looked-at');
    for (let n = 0; n < 10; n += 1) cache.set(`n${n}`, named('x'));
    expect(cache.peek('looked-at')).toBeUndefined();
  });

  it('behavior: a new value replaces the old one in either part', () => {
    const cache = create();
    cache.set('a', named('one'));
    cache.set('a', named('two'));
    expect(cache.get('a')).toEqual({ name: 'two' });
    cache.set('a', named('three'));
    expect([cache.peek('a')?.name, cache.entries]).toEqual(['three', 1]);
  });

  it('behavior: measures a grown value again when it is cached again, in either part', () => {
    const cache = createByteCache<{ size: number }>({ maxBytes: 800, bytesOf: ({ size }) => size });
    const value = { size: 10 };
    for (const round of [false, true]) {
      cache.set('a', value);
      if (round) cache.get('a');
      value.size += 5;
      cache.set('a', value);
      expect([cache.bytes, cache.entries]).toEqual([value.size, 1]);
    }
  });

  it('behavior: bytes stay within the limit and match the values', () => {
    const step = fc.tuple(
      fc.constantFrom('get', 'set', 'delete'),
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 1, max: 60 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const cache = createByteCache<{ size: number }>({ maxBytes: 400, bytesOf: ({ size }) => size });
        for (const [verb, n, size] of steps) {
          if (verb === 'set') cache.set(`k${n}`, { size });
          else cache[verb as 'get' | 'delete'](`k${n}`);
          const found = Array.from({ length: 31 }, (_, i) => cache.peek(`k${i}`)).filter(
            (value) => value !== undefined,
          );
          expect(cache.bytes).toBe(found.reduce((sum, value) => sum + value.size, 0));
          expect(cache.bytes).toBeLessThanOrEqual(400);
          expect(cache.entries).toBe(found.length);
        }
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKept } from '../../src/shared/cached.ts';

const SIZE = 10;
const named = (name: string) => ({ name });
const create = (maxBytes = 800) => createKept<{ name: string }>({ maxBytes, bytesOf: () => SIZE });

describe('createKept', () => {
  it('default: what is kept is found, and tells what it costs', () => {
    const kept = create();
    kept.set('a', named('a'));
    expect(kept.get('a')).toEqual({ name: 'a' });
    expect(kept.get('a')).toEqual({ name: 'a' });
    expect(kept.get('b')).toBeUndefined();
    expect([kept.bytes, kept.entries, kept.maxBytes]).toEqual([SIZE, 1, 800]);
    kept.delete('a');
    expect([kept.get('a'), kept.bytes, kept.entries]).toEqual([undefined, 0, 0]);
  });

  it('behavior: what was never asked for again takes an eighth, however much of it comes', () => {
    const kept = create();
    for (let n = 0; n < 1_000; n += 1) kept.set(`n${n}`, named('x'));
    expect([kept.bytes, kept.entries]).toEqual([100, 10]);
    expect(kept.peek('n990')).toBeDefined();
    expect(kept.peek('n989')).toBeUndefined();
  });

  it('behavior: what was asked for again is not displaced by what was not', () => {
    const kept = create();
    kept.set('popular', named('popular'));
    kept.get('popular');
    for (let n = 0; n < 1_000; n += 1) kept.set(`n${n}`, named('x'));
    expect(kept.peek('popular')).toBeDefined();
  });

  it('behavior: looking without asking proves nothing', () => {
    const kept = create();
    kept.set('looked-at', named('x'));
    kept.peek('looked-at');
    for (let n = 0; n < 10; n += 1) kept.set(`n${n}`, named('x'));
    expect(kept.peek('looked-at')).toBeUndefined();
  });

  it('behavior: a new value takes the place of the old one, on trial or not', () => {
    const kept = create();
    kept.set('a', named('one'));
    kept.set('a', named('two'));
    expect(kept.get('a')).toEqual({ name: 'two' });
    kept.set('a', named('three'));
    expect([kept.peek('a')?.name, kept.entries]).toEqual(['three', 1]);
  });

  it('behavior: a value that has grown is measured anew when it is kept again, on trial or not', () => {
    const kept = createKept<{ size: number }>({ maxBytes: 800, bytesOf: ({ size }) => size });
    const value = { size: 10 };
    for (const asked of [false, true]) {
      kept.set('a', value);
      if (asked) kept.get('a');
      value.size += 5;
      kept.set('a', value);
      expect([kept.bytes, kept.entries]).toEqual([value.size, 1]);
    }
  });

  it('behavior: bytes never pass the bound, and are those of what is found', () => {
    const step = fc.tuple(
      fc.constantFrom('get', 'set', 'delete'),
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 1, max: 60 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const kept = createKept<{ size: number }>({ maxBytes: 400, bytesOf: ({ size }) => size });
        for (const [verb, n, size] of steps) {
          if (verb === 'set') kept.set(`k${n}`, { size });
          else kept[verb as 'get' | 'delete'](`k${n}`);
          const found = Array.from({ length: 31 }, (_, i) => kept.peek(`k${i}`)).filter((value) => value !== undefined);
          expect(kept.bytes).toBe(found.reduce((sum, value) => sum + value.size, 0));
          expect(kept.bytes).toBeLessThanOrEqual(400);
          expect(kept.entries).toBe(found.length);
        }
      }),
    );
  });
});

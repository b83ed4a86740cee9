import { describe, expect, test } from 'vitest';
import { hashKey, matchesHash } from '../../src/keys/hash.ts';

describe('hashKey', () => {
  test('default: SHA-256', () => {
    expect(hashKey('abc', undefined).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  test('behavior: a pepper changes the hash', () => {
    const hashes = [undefined, 'a pepper of length', 'another of this length'].map((pepper) =>
      hashKey('abc', pepper).toString('hex'),
    );
    expect(new Set(hashes).size).toBe(3);
  });
});

describe('matchesHash', () => {
  test('default', () => {
    expect(matchesHash(hashKey('abc', undefined), hashKey('abc', undefined))).toBe(true);
    expect(matchesHash(hashKey('abc', undefined), hashKey('abd', undefined))).toBe(false);
  });

  test('behavior: a missing key never matches, not even a hash of zeros', () => {
    expect(matchesHash(hashKey('abc', undefined), null)).toBe(false);
    expect(matchesHash(Buffer.alloc(32), null)).toBe(false);
    expect(matchesHash(Buffer.alloc(32), Buffer.alloc(0))).toBe(false);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateKey, parseKey } from '../../src/keys/format.ts';

describe('generateKey', () => {
  test('default', () => {
    for (const tier of ['partner', 'ops'] as const) {
      const { text, ...parts } = generateKey(tier);
      expect(text).toMatch(new RegExp(`^sg_${tier}_[0-9a-z]{8}_[0-9A-Za-z]{49}$`));
      expect(parseKey(text)).toEqual(parts);
      expect(parts.prefix).toMatch(/^[0-9a-z]{8}$/);
    }
  });

  test('behavior: every key is different', () => {
    expect(new Set(Array.from({ length: 500 }, () => generateKey('partner').text)).size).toBe(500);
  });
});

describe('parseKey', () => {
  const { text } = generateKey('partner');

  test('behavior: detects any wrong character without a database', () => {
    const mutation = fc.tuple(
      fc.nat(text.length - 1),
      fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_- é'),
    );
    fc.assert(
      fc.property(mutation, ([at, character]) => {
        fc.pre(text[at] !== character);
        expect(parseKey(`${text.slice(0, at)}${character}${text.slice(at + 1)}`)).toBeNull();
      }),
    );
  });

  test('behavior: rejects shorter, longer and other texts', () => {
    for (const wrong of [
      '',
      'sg_',
      text.slice(1),
      text.slice(0, -1),
      `${text}0`,
      ` ${text}`,
      `${text}\n`,
      'local-ops',
    ]) {
      expect(parseKey(wrong)).toBeNull();
    }
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (noise) => parseKey(noise) === null));
  });
});

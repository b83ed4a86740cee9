import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../src/keys/duration.ts';
import { KeyInputError } from '../../src/keys/errors.ts';

describe('parseDuration', () => {
  test('default', () => {
    expect(['0', '30m', '24h', '90d'].map((text) => parseDuration(text, 'overlap'))).toEqual([
      0, 1_800_000, 86_400_000, 7_776_000_000,
    ]);
  });

  test('error: KeyInputError', () => {
    for (const wrong of ['', '1', '-1h', '1.5h', '1w', 'h', '1h ', '9999999d']) {
      expect(() => parseDuration(wrong, 'overlap')).toThrow(KeyInputError);
    }
  });
});

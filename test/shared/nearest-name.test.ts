import { describe, expect, test } from 'vitest';
import { nearestName } from '../../src/shared/input/nearest-name.ts';

describe(nearestName, () => {
  test('default: finds the name with the fewest typos', () => {
    expect(nearestName('chian_ids', ['token', 'chain_id', 'chain_ids'])).toBe('chain_ids');
    expect(nearestName('leverag', ['leverage'])).toBe('leverage');
  });

  test('behavior: a name of any length is compared only with names of about its length', () => {
    // Compared letter by letter, it would take all memory.
    expect(nearestName('x'.repeat(50_000_000), ['chainId', 'token'])).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { isFromFuture, observedAt } from '../../src/shared/observed.ts';

const NOW_MS = 1_795_176_000_000;

describe(observedAt, () => {
  test('default', () => {
    expect(observedAt(NOW_MS - 1, NOW_MS)).toBe(NOW_MS - 1);
  });

  test('behavior: up to two minutes ahead counts as now', () => {
    expect([observedAt(NOW_MS + 1, NOW_MS), observedAt(NOW_MS + 120_000, NOW_MS)]).toEqual([NOW_MS, NOW_MS]);
    expect(isFromFuture(NOW_MS + 120_000, NOW_MS)).toBe(false);
  });

  test('behavior: more than that is rejected as future', () => {
    expect(observedAt(NOW_MS + 120_001, NOW_MS)).toBeNull();
    expect(isFromFuture(NOW_MS + 120_001, NOW_MS)).toBe(true);
  });
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestClock } from './test-clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 5_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe(createTestClock, () => {
  test('default: runs with the real clock from its start', () => {
    const clock = createTestClock(100);
    vi.setSystemTime(6_000);
    clock.advance(20);
    expect(clock.now()).toBe(1_120);
  });

  test('behavior: when held it moves only by `advance`, and continues from there when released', () => {
    const clock = createTestClock(100);
    clock.hold();
    vi.setSystemTime(6_000);
    clock.hold();
    clock.advance(20);
    expect(clock.now()).toBe(120);
    clock.release();
    clock.release();
    vi.setSystemTime(6_300);
    expect(clock.now()).toBe(420);
  });
});

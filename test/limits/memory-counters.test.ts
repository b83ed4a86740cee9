import { describe, expect, test } from 'vitest';
import { createMemoryCounters } from '../../src/limits/counters.ts';

let nowMs = 1_000_000;
const clock = { now: () => nowMs };

describe('createMemoryCounters', () => {
  const counters = (max = 2) => createMemoryCounters({ windowSec: 60, max }, clock);

  test('default: a window ends exactly after its length', () => {
    const { add } = counters();
    expect(add('a', 3)).toEqual({ used: 3, msLeft: 60_000 });
    nowMs += 59_999;
    expect(add('a', 3)).toEqual({ used: 6, msLeft: 1 });
    nowMs += 1;
    expect(add('a', 3)).toEqual({ used: 3, msLeft: 60_000 });
  });

  test('behavior: a clock that is set back begins a new window', () => {
    const { add } = counters();
    add('a', 3);
    nowMs -= 1;
    expect(add('a', 1)).toEqual({ used: 1, msLeft: 60_000 });
  });

  test('behavior: more points returned than used leave none used', () => {
    const { add } = counters();
    add('a', 3);
    expect(add('a', -5).used).toBe(0);
    expect(add('a', 1).used).toBe(1);
  });

  test('behavior: the identity that was used longest ago is dropped first', () => {
    const { add } = counters();
    for (const identity of ['a', 'b', 'a', 'c']) add(identity, 1);
    expect([add('a', 1).used, add('b', 1).used]).toEqual([3, 1]);
  });
});

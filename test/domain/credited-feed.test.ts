import { describe, expect, test } from 'vitest';
import type { OracleFeed } from '../../src/domain/facts.ts';
import { creditedFeed, feedAt, priceAge } from '../../src/domain/market/price-age.ts';
import type { Address } from '../../src/shared/ids.ts';

const T = 1_800_000_000n;
const feed = `0x${'f1'.repeat(20)}` as Address;
const budgets = { heartbeatsSec: new Map<Address, number>(), budgetSec: 3_600 };

/** The feed after each of some readings: [date that it reports, time of the block]. */
function after(...readings: readonly (readonly [bigint | undefined, bigint])[]): OracleFeed | undefined {
  return readings.reduce<OracleFeed | undefined>(
    (known, [reported, blockTime]) => creditedFeed(feedAt(feed, reported, blockTime), known),
    undefined,
  );
}

describe('creditedFeed', () => {
  test.each([
    ['a date before the block', [[T - 60n, T]], T - 60n],
    ['an update in the block of the first reading', [[T, T]], T],
    [
      'the same reading twice',
      [
        [T, T],
        [T, T],
      ],
      T,
    ],
    [
      'an update in the block of a later reading',
      [
        [T - 60n, T],
        [T + 120n, T + 120n],
      ],
      T + 120n,
    ],
    [
      'the time of the block, twice',
      [
        [T, T],
        [T + 120n, T + 120n],
      ],
      undefined,
    ],
    [
      'the time of the block, always',
      [
        [T, T],
        [T + 120n, T + 120n],
        [T + 240n, T + 240n],
      ],
      undefined,
    ],
    [
      'the time of the block, after another date',
      [
        [T - 60n, T],
        [T + 1n, T + 1n],
        [T + 2n, T + 2n],
      ],
      undefined,
    ],
    [
      'a date before the block, after such ones',
      [
        [T, T],
        [T + 1n, T + 1n],
        [T + 1n, T + 9n],
      ],
      T + 1n,
    ],
    [
      'no date, then the time of the block',
      [
        [undefined, T],
        [T + 1n, T + 1n],
      ],
      T + 1n,
    ],
    ['a date ahead of the block', [[T + 9_000n, T]], undefined],
  ] as const)('behavior: %s', (_name, readings, expected) => {
    const known = after(...readings);
    expect(known?.updatedAt).toBe(expected);
    expect(priceAge(known && [known], budgets).state).toBe(expected === undefined ? 'unknown' : 'known');
  });
});

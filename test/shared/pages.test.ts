import { afterEach, describe, expect, test, vi } from 'vitest';
import { inPages, inTurns } from '../../src/shared/pages.ts';

async function pagesOf<T>(items: Iterable<T>, size: number): Promise<(readonly T[])[]> {
  const pages: (readonly T[])[] = [];
  for await (const page of inPages(items, size)) pages.push(page);
  return pages;
}

const failing = function* () {
  yield 1;
  throw new RangeError('two');
};

describe('inTurns', () => {
  afterEach(() => vi.restoreAllMocks());

  /** Process 1 to 4, each of which takes so long, beside one request; returns what happened in which order. */
  async function eventsOf(msPerItem: number): Promise<readonly unknown[]> {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const events: unknown[] = [];
    setImmediate(() => events.push('request'));
    for await (const item of inTurns(new Set([1, 2, 3, 4]))) {
      events.push(item);
      nowMs += msPerItem;
    }
    return events;
  }

  test('default: short work is done in one turn', async () => {
    expect(await eventsOf(0.9)).toEqual([1, 2, 3, 4]);
  });

  test('behavior: waiting work runs as soon as some milliseconds have passed', async () => {
    expect(await eventsOf(2)).toEqual([1, 2, 'request', 3, 4]);
    expect(await eventsOf(50)).toEqual([1, 'request', 2, 3, 4]);
  });

  test('error: an exception of the source ends it', async () => {
    const seen: number[] = [];
    const run = async () => {
      for await (const item of inTurns(failing())) seen.push(item);
    };
    await expect(run()).rejects.toBeInstanceOf(RangeError);
    expect(seen).toEqual([1]);
  });
});

describe('inPages', () => {
  test.each([
    [5, [[1, 2], [3, 4], [5]]],
    [
      4,
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [1, [[1]]],
    [0, []],
  ])('default: %i items in pages of 2, in their order', async (count, pages) => {
    expect(await pagesOf(new Set(Array.from({ length: count }, (_, i) => i + 1)), 2)).toEqual(pages);
  });

  test('behavior: waiting work runs between two pages, and items are read by page', async () => {
    const events: string[] = [];
    const items = function* () {
      for (const n of [1, 2, 3, 4]) {
        events.push(`read ${n}`);
        yield n;
      }
    };
    setImmediate(() => events.push('request'));
    for await (const page of inPages(items(), 2)) events.push(`page ${page.join()}`);
    expect(events).toEqual(['read 1', 'read 2', 'read 3', 'page 1,2', 'request', 'read 4', 'page 3,4']);
  });

  test('error: an exception of the source ends it', async () => {
    await expect(pagesOf(failing(), 5)).rejects.toBeInstanceOf(RangeError);
  });
});

import { describe, expect, test } from 'vitest';
import { inPages } from '../../src/shared/pages.ts';

async function pagesOf<T>(items: Iterable<T>, size: number): Promise<(readonly T[])[]> {
  const pages: (readonly T[])[] = [];
  for await (const page of inPages(items, size)) pages.push(page);
  return pages;
}

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
    const failing = function* () {
      yield 1;
      throw new RangeError('two');
    };
    await expect(pagesOf(failing(), 5)).rejects.toBeInstanceOf(RangeError);
  });
});

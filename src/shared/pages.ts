/** Let waiting requests run first. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Iterate over items in pages, and let waiting requests run in between. A page should take some milliseconds, because it
 * blocks the event loop.
 */
export async function* inPages<T>(items: Iterable<T>, size: number): AsyncGenerator<readonly T[], void, void> {
  let page: T[] = [];
  for (const item of items) {
    if (page.length === size) {
      yield page;
      await letOthersRun();
      page = [];
    }
    page.push(item);
  }
  if (page.length > 0) yield page;
}

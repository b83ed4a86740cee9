/** Let requests that wait run first. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Go through items in pages, and let requests that wait run between them. A page should take some milliseconds: as long as it
 * takes, nothing else runs.
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

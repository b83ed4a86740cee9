/** Let waiting requests run first. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How long long work may block the event loop at once, ms. */
const TURN_MS = 4;

/** Iterate over the items of long work, and let waiting requests run each time it has taken some milliseconds. */
export async function* inTurns<T>(items: Iterable<T>): AsyncGenerator<T, void, void> {
  let sinceMs = performance.now();
  for (const item of items) {
    yield item;
    if (performance.now() - sinceMs < TURN_MS) continue;
    await letOthersRun();
    sinceMs = performance.now();
  }
}

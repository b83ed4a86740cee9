export interface Slicing {
  /** Milliseconds, for measuring slices only. */
  readonly now: () => number;
  /** Let other work run, then go on. */
  readonly pause: () => Promise<void>;
  /** Longest run without a pause, ms. */
  readonly sliceMs: number;
}

/**
 * Well below what a waiting request would notice, well above what a pause costs. Steps have to be far smaller still: while
 * V8 marks the heap it adds 5 ms of marking to every 64 kB that are allocated, and only between steps can a slice end.
 */
const SLICE_MS = 3;

/** Pause until what has happened meanwhile was handled. */
export const betweenEvents: Slicing = {
  now: () => performance.now(),
  pause: () => new Promise((resolve) => setImmediate(resolve)),
  sliceMs: SLICE_MS,
};

/** Run steps to their end, pausing whenever a slice of time is used up. */
export async function runInSlices<T>(steps: Generator<unknown, T, void>, slicing: Slicing): Promise<T> {
  const { now, sliceMs } = slicing;
  let sinceMs = now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (now() - sinceMs < sliceMs) continue;
    await letOthersRun(slicing);
    sinceMs = now();
  }
}

/**
 * Pause, and once more when that took long: the collector or a request had that turn of the event loop, and what came in
 * meanwhile goes first. Otherwise the next slice would be added to their time.
 */
export async function letOthersRun({ now, pause, sliceMs }: Slicing): Promise<void> {
  const sinceMs = now();
  await pause();
  if (now() - sinceMs > sliceMs) await pause();
}

/** Run steps to their end without a pause. */
export function runAtOnce<T>(steps: Generator<unknown, T, void>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Map what a list or a map holds, a step per item. */
export function* eachStep<T, R>(items: Iterable<T>, map: (item: T, index: number) => R): Generator<void, R[], void> {
  const mapped: R[] = [];
  for (const item of items) {
    mapped.push(map(item, mapped.length));
    yield;
  }
  return mapped;
}

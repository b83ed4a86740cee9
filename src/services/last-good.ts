import type { Clock } from '../shared/clock.ts';
import type { Timers } from '../shared/timers.ts';

export interface LastGoodDeps<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** How long a value is served without asking again, ms. */
  readonly freshForMs: number;
  /** How long a caller waits for a newer value when there is an older one, ms. */
  readonly patienceMs: number;
  /** How long after a failure nothing is asked again, ms. */
  readonly pauseMs: number;
}

export interface Served<T> {
  readonly value: T;
  /** What the latest reading failed with; `null` = it did not. */
  readonly failure: { readonly error: unknown; readonly sinceMs: number } | null;
}

/**
 * Keep the last good value of something dear to read: one reading at a time, shared by whoever waits for it; while readings
 * fail or take long the older value is handed out. Without one the failure is thrown.
 */
export function createLastGood<T>(deps: LastGoodDeps<T>): () => Promise<Served<T>> {
  const { clock, timers } = deps;
  let last: { readonly value: T; readonly atMs: number } | null = null;
  let failure: { readonly error: unknown; readonly sinceMs: number; readonly atMs: number } | null = null;
  let running: Promise<void> | null = null;

  const readAgain = (): Promise<void> => {
    running ??= deps
      .read()
      .then(
        (value) => {
          last = { value, atMs: clock.now() };
          failure = null;
        },
        (error: unknown) => {
          const nowMs = clock.now();
          failure = { error, sinceMs: failure?.sinceMs ?? nowMs, atMs: nowMs };
        },
      )
      .finally(() => {
        running = null;
      });
    return running;
  };
  const waitFor = async (work: Promise<void>): Promise<void> => {
    if (!last) return work;
    let timer: unknown;
    const patience = new Promise<void>((resolve) => {
      timer = timers.setTimeout(resolve, deps.patienceMs);
    });
    await Promise.race([work, patience]);
    timers.clearTimeout(timer);
  };

  return async () => {
    const nowMs = clock.now();
    const isFresh = last !== null && nowMs - last.atMs < deps.freshForMs && failure === null;
    const isPausing = failure !== null && nowMs - failure.atMs < deps.pauseMs;
    if (!isFresh && !isPausing) await waitFor(readAgain());
    if (last) return { value: last.value, failure };
    throw failure === null ? new Error('nothing was read') : (failure as { error: unknown }).error;
  };
}

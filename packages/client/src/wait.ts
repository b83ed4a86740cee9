/** Waits; rejects with the reason of the signal when it aborts first. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>;

/** The longest delay of a timer, 2^31 - 1 ms: a longer one ends at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * Run something after a time, which may be longer than one timer can be, and `Infinity`.
 *
 * @returns the function that cancels it
 */
export function runAfter(ms: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const start = (leftMs: number) => {
    timer =
      leftMs > LONGEST_TIMER_MS
        ? setTimeout(() => start(leftMs - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
        : setTimeout(run, leftMs);
  };
  start(ms);
  return () => clearTimeout(timer);
}

/** Wait by a timer. */
export const wait: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = runAfter(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    function stop() {
      cancel();
      reject(signal?.reason);
    }
    signal?.addEventListener('abort', stop, { once: true });
  });

/**
 * Run something that takes no signal, such as a request to a wallet, and reject with the reason of the signal when it aborts
 * first. It is not run at all after that.
 */
export const untilAborted = <T>(run: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => reject(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    const answer = (async () => run())();
    answer.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop));
  });

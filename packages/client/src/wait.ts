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
 * first. It is not run at all after that. `onLate` gets an answer that comes after the rejection.
 */
export const untilAborted = <T>(
  run: () => T | Promise<T>,
  signal: AbortSignal | undefined,
  onLate: (answer: T) => void = () => {},
): Promise<T> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let isLeft = false;
    const stop = () => {
      isLeft = true;
      reject(signal?.reason);
    };
    const end = () => signal?.removeEventListener('abort', stop);
    signal?.addEventListener('abort', stop, { once: true });
    (async () => run())().then(
      (answer) => {
        end();
        if (isLeft) onLate(answer);
        else resolve(answer);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });

/** Call a listener of the caller. Its failure, also that of an async function, changes nothing. */
export function notify<T>(listener: ((value: T) => unknown) | undefined, value: T): void {
  (async () => listener?.(value))().catch(() => {});
}

/** Waits; rejects with the reason of the signal when it aborts first. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Wait by a timer. */
export const wait: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(done, ms);
    function done() {
      signal?.removeEventListener('abort', stop);
      resolve();
    }
    function stop() {
      clearTimeout(timer);
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

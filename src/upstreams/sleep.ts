import { setTimeout as timer } from 'node:timers/promises';

/**
 * Wait for `ms`.
 * @throws the signal's reason when it is aborted
 */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export const systemSleep: Sleep = async (ms, signal) => {
  try {
    await timer(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
};

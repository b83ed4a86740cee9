import type { Clock } from '../shared/clock.ts';

/** A reading of the database for pages that are polled. */
export interface LatestReading<T> {
  /**
   * The latest value that was read. One that is older than some seconds is read again beside the call, and one that is too old to be
   * shown is waited for, as long as a reading takes. `null` = the database does not answer.
   */
  latest(): Promise<T | null>;
}

/** After this time the health page has the value read again. */
const READ_AGAIN_MS = 10_000;
/** An older value is no longer shown: jobs that ran since would look stopped. */
const FORGOTTEN_AFTER_MS = 60_000;

/** Create a reading that remembers its latest value. `read` bounds its own time. */
export function createLatestReading<T>(read: () => Promise<T>, clock: Clock): LatestReading<T> {
  let known: { readonly value: T; readonly atMs: number } | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> = Promise.resolve();
  const shown = (): T | null =>
    known !== null && Math.abs(clock.now() - known.atMs) <= FORGOTTEN_AFTER_MS ? known.value : null;

  const readNow = async (): Promise<void> => {
    askedMs = clock.now();
    known = { value: await read(), atMs: clock.now() };
  };
  return {
    async latest() {
      if (Math.abs(clock.now() - askedMs) >= READ_AGAIN_MS) {
        reading = readNow().catch(() => {
          known = null;
        });
      }
      if (shown() === null) await reading;
      return shown();
    },
  };
}

import type { Clock } from '../shared/clock.ts';

/** A reading of the database that the health page shows without waiting for it. */
export interface LatestReading<T> {
  /** @throws UpstreamUnavailableError */
  read(): Promise<T>;
  /**
   * The latest value that was read, without waiting: an older one is read again beside the call. `null` = none was read within a
   * minute, or the database does not answer.
   */
  latest(): T | null;
}

/** After this time the health page has the value read again. */
const READ_AGAIN_MS = 10_000;
/** An older value is no longer shown: jobs that ran since would look stopped. */
const FORGOTTEN_AFTER_MS = 60_000;

/** Create a reading that remembers its latest value. */
export function createLatestReading<T>(read: () => Promise<T>, clock: Clock): LatestReading<T> {
  let known: { readonly value: T; readonly atMs: number } | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;

  const readNow = async (): Promise<T> => {
    askedMs = clock.now();
    const value = await read();
    known = { value, atMs: clock.now() };
    return value;
  };
  return {
    read: readNow,
    latest() {
      if (Math.abs(clock.now() - askedMs) >= READ_AGAIN_MS) {
        readNow().catch(() => {
          known = null;
        });
      }
      return known !== null && Math.abs(clock.now() - known.atMs) <= FORGOTTEN_AFTER_MS ? known.value : null;
    },
  };
}

import type { Clock } from '../shared/clock.ts';

/** A reading of the database that the health page shows without waiting for it. */
export interface LatestReading<T> {
  /** @throws UpstreamUnavailableError */
  read(): Promise<T>;
  /**
   * The latest value that was read, without waiting: an older one is read again beside the call. `null` = none was read in the
   * last minute, or the database does not answer.
   */
  latest(): T | null;
}

/** After this time the health page has the value read again. */
const READ_AGAIN_MS = 10_000;
/** An older value is not shown: nobody has asked for a while, and a failure since then would not be in it. */
const SHOWN_FOR_MS = 60_000;

/** Create a reading that remembers its latest value. */
export function createLatestReading<T>(read: () => Promise<T>, clock: Clock): LatestReading<T> {
  let known: T | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;
  let knownMs = Number.NEGATIVE_INFINITY;

  const readNow = async (): Promise<T> => {
    askedMs = clock.now();
    const value = await read();
    known = value;
    knownMs = clock.now();
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
      return Math.abs(clock.now() - knownMs) <= SHOWN_FOR_MS ? known : null;
    },
  };
}

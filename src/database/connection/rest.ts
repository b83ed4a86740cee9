import type { Clock } from '../../shared/clock.ts';

/** Pause between probes of a silent database. */
const PAUSE_MS = 2_000;

export interface Rest {
  /** Whether statements may be sent. While the database is silent, at most one probe per pause is made, and its callers wait for it. */
  allows(): Promise<boolean>;
  /** Note that the database was silent for a whole timeout. */
  begin(): void;
  /** Number of silences so far: connections from before the latest one may be dead. */
  readonly silences: number;
}

/**
 * A circuit breaker for silence, which would cost each caller a whole timeout; every other failure comes at once. The breaker
 * of the providers does not fit: a connection and its statements are separate calls, and its callers wait for a trial as long as
 * for a statement.
 */
export function createRest(clock: Clock, probe: () => Promise<boolean>): Rest {
  let resting = false;
  let requestedMs = 0;
  let probing: Promise<boolean> | undefined;
  let silences = 0;
  return {
    allows() {
      if (!resting) return Promise.resolve(true);
      if (probing !== undefined) return probing;
      const sinceMs = clock.now() - requestedMs;
      if (sinceMs >= 0 && sinceMs < PAUSE_MS) return Promise.resolve(false);
      probing = probe().then((isAnswered) => {
        resting = !isAnswered;
        requestedMs = clock.now();
        probing = undefined;
        return isAnswered;
      });
      return probing;
    },
    begin() {
      if (!resting) silences += 1;
      resting = true;
      requestedMs = clock.now();
    },
    get silences() {
      return silences;
    },
  };
}

import { DatabaseUnavailableError } from '../database/connection/errors.ts';
import { settlesWithin } from '../shared/calls/wait-timeout.ts';
import type { Timers } from '../shared/timers.ts';

/** How long a run waits for a reading of the database. Without it a run goes on as during an outage. */
const READ_WAIT_MS = 2_000;
/** How long a request waits for an optional reading, and after a late reading, until one is in time again. */
const REQUEST_WAIT_MS = 1_000;
const OUTAGE_WAIT_MS = 100;

export interface BackgroundWrites {
  /** Let a write go on beside the run that made it. `work` never rejects. */
  beside(work: Promise<void>): Promise<void>;
  /** Wait for the writes under way. */
  settle(): Promise<void>;
}

/** Keep writes of the warmers apart from their runs, so that a slow database delays no measurement. */
export function createBackgroundWrites(): BackgroundWrites {
  const running = new Set<Promise<void>>();
  return {
    async beside(work) {
      const tracked = work.finally(() => running.delete(tracked));
      running.add(tracked);
    },
    async settle() {
      await Promise.all(running);
    },
  };
}

/**
 * Bound the wait of a run for a reading of the database.
 * @throws DatabaseUnavailableError
 */
export function inTime<Input extends readonly unknown[], Output>(
  timers: Timers,
  read: (...input: Input) => Promise<Output>,
): (...input: Input) => Promise<Output> {
  return async (...input) => {
    const reading = read(...input);
    if (!(await settlesWithin(reading, READ_WAIT_MS, timers))) throw new DatabaseUnavailableError('silent');
    return reading;
  };
}

/**
 * Bound the wait of requests for a reading of the database. After a late one they wait a tenth of the time, until a reading
 * succeeds: a silent database delays one request, not each of them.
 * @throws DatabaseUnavailableError
 */
export function forRequests<Input extends readonly unknown[], Output>(
  timers: Timers,
  read: (...input: Input) => Promise<Output>,
): (...input: Input) => Promise<Output> {
  let isLate = false;
  return async (...input) => {
    const reading = read(...input);
    const answered = () => {
      isLate = false;
    };
    reading.then(answered, () => {});
    if (await settlesWithin(reading, isLate ? OUTAGE_WAIT_MS : REQUEST_WAIT_MS, timers)) return reading;
    isLate = true;
    throw new DatabaseUnavailableError('silent');
  };
}

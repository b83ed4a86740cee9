import type { Clock } from '../shared/clock.ts';
import type { Sleep } from './sleep.ts';

export interface Budget {
  /** Wait for the right to send one request; `{ refusedForMs }` when that would take longer than the bound. */
  take(signal?: AbortSignal): Promise<{ readonly refusedForMs: number } | null>;
}

const WINDOW_MS = 60_000;

/**
 * Token bucket that holds half of the minute's budget and refills the other half over the minute, so that no window of 60 s
 * ever sees more than `requestsPerMinute`. Callers are served in the order of asking.
 */
export function createBudget(deps: {
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly requestsPerMinute: number;
  readonly maxWaitMs: number;
}): Budget {
  const burst = Math.max(1, Math.floor(deps.requestsPerMinute / 2));
  const intervalMs = WINDOW_MS / Math.max(1, deps.requestsPerMinute - burst);
  /** When the bucket will be full again, were nothing more taken. */
  let fullAtMs = Number.NEGATIVE_INFINITY;
  return {
    async take(signal) {
      const now = deps.clock.now();
      const fullAfterThis = Math.max(fullAtMs, now) + intervalMs;
      const waitMs = fullAfterThis - burst * intervalMs - now;
      if (waitMs > deps.maxWaitMs) return { refusedForMs: waitMs };
      fullAtMs = fullAfterThis;
      if (waitMs <= 0) return null;
      try {
        await deps.sleep(waitMs, signal);
      } catch (error) {
        // Who gave up has sent nothing: the place goes back, or impatient callers would use the budget up for nobody.
        fullAtMs -= intervalMs;
        throw error;
      }
      return null;
    },
  };
}

import type { Clock } from '../shared/clock.ts';
import type { Sleep } from './sleep.ts';

export interface Budget {
  /** Wait for permission to send one request; `{ refusedForMs }` when the wait would exceed the bound. */
  take(signal?: AbortSignal): Promise<{ readonly refusedForMs: number } | null>;
  /** Send nothing for a time, because the provider has said that no request is left. */
  hold(forMs: number): void;
  readonly requestsPerMinute: number;
  /** Requests permitted in the last 60 s. */
  used(): number;
}

const WINDOW_MS = 60_000;

/**
 * Token bucket that holds half of the minute's budget and refills the other half over the minute, so that no window of 60 s
 * ever contains more than `requestsPerMinute`. Callers are served in order.
 */
export function createBudget(deps: {
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly requestsPerMinute: number;
  readonly maxWaitMs: number;
}): Budget {
  const burst = Math.max(1, Math.floor(deps.requestsPerMinute / 2));
  const intervalMs = WINDOW_MS / Math.max(1, deps.requestsPerMinute - burst);
  /** Time at which the bucket is full again without further requests. */
  let fullAtMs = Number.NEGATIVE_INFINITY;
  /** Times of the permitted requests of the last minute, at most as many as the budget. */
  let taken: number[] = [];
  const recent = () => {
    const fromMs = deps.clock.now() - WINDOW_MS;
    taken = taken.filter((atMs) => atMs > fromMs);
    return taken;
  };
  return {
    requestsPerMinute: deps.requestsPerMinute,
    used: () => recent().length,
    hold(forMs) {
      fullAtMs = Math.max(fullAtMs, deps.clock.now() + forMs + (burst - 1) * intervalMs);
    },
    async take(signal) {
      const now = deps.clock.now();
      const fullAfterThis = Math.max(fullAtMs, now) + intervalMs;
      const waitMs = fullAfterThis - burst * intervalMs - now;
      if (waitMs > deps.maxWaitMs) return { refusedForMs: waitMs };
      fullAtMs = fullAfterThis;
      recent().push(now + Math.max(0, waitMs));
      if (waitMs <= 0) return null;
      try {
        await deps.sleep(waitMs, signal);
      } catch (error) {
        taken.splice(taken.indexOf(now + waitMs), 1);
        // An aborted caller has sent nothing: its token is returned, so that aborted calls do not use up the budget.
        fullAtMs -= intervalMs;
        throw error;
      }
      return null;
    },
  };
}

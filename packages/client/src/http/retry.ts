import { ClientError, ServiceError } from '../errors.ts';
import type { Wait } from '../wait.ts';

export interface RetryOptions {
  /** Repetitions after the first attempt. */
  readonly retries: number;
  /** Longest accepted wait before a repetition, ms. */
  readonly maxRetryWaitMs: number;
  readonly wait: Wait;
}

/** Not repeated, although another request may succeed: these answers change with the market, not within seconds. */
const NOT_REPEATED = ['no_route', 'insufficient_liquidity', 'simulation_mismatch'];
const FIRST_PAUSE_MS = 250;

/** Run a read, and repeat it while its failure is temporary and the service asks for no longer wait than accepted. */
export async function withRetries<T>(
  run: () => Promise<T>,
  { retries, maxRetryWaitMs, wait }: RetryOptions,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= retries || !(error instanceof ClientError)) throw error;
      if (!error.retryable || NOT_REPEATED.includes(error.code)) throw error;
      const asked = error instanceof ServiceError ? error.retryAfter : undefined;
      const pauseMs = asked === undefined ? pauseBefore(attempt) : asked * 1_000;
      if (pauseMs > maxRetryWaitMs) throw error;
      await wait(pauseMs, signal);
    }
  }
}

/** Doubles with each attempt; with jitter, so that clients do not return together. */
export function pauseBefore(attempt: number): number {
  return FIRST_PAUSE_MS * 2 ** Math.min(attempt, 7) * (0.5 + Math.random() / 2);
}

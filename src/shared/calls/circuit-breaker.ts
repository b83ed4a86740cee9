import { circuitBreaker, handleWhen, type IBreaker } from 'cockatiel';
import type { Clock } from '../clock.ts';

export interface BreakerLimits {
  /** Failed calls in a row after which calls fail at once. */
  readonly failures: number;
  readonly coolDownMs: number;
}

export interface CircuitBreakerDeps<R extends string> {
  readonly limits: BreakerLimits;
  readonly clock: Clock;
  /** Reason of an error that counts as a failure; `undefined` = it does not count. */
  readonly reasonOf: (error: unknown) => R | undefined;
  /** Called when a cool-down begins. */
  readonly onOpen: (reason: R) => void;
  /** How many failures one for this reason counts as; absent: one. */
  readonly weightOf?: ((reason: R) => number) | undefined;
}

export interface CircuitBreaker<R extends string> {
  /**
   * Run a call, or fail at once during a cool-down. `isTrial`: the call decides whether the cool-down ends.
   * @throws the refusal, and any error of the call
   */
  execute<T>(call: (isTrial: boolean) => Promise<T>, refusal: (reason: R, retryAfterSec: number) => Error): Promise<T>;
  /** End of the current cool-down, ms; `null` = calls are sent. */
  openUntilMs(): number | null;
}

/**
 * Fail at once while the other side is known to be down. After the cool-down one call is the trial, and the others wait for its
 * result.
 */
export function createCircuitBreaker<R extends string>(deps: CircuitBreakerDeps<R>): CircuitBreaker<R> {
  const { limits, clock, reasonOf, onOpen, weightOf = () => 1 } = deps;
  let failures = 0;
  const inARow: IBreaker = {
    state: undefined,
    success() {
      failures = 0;
    },
    failure: () => failures >= limits.failures,
  };
  // The cool-down runs on the injected clock, because cockatiel uses the system's.
  const breaker = circuitBreaker(
    handleWhen((thrown) => {
      const failed = reasonOf(thrown);
      if (failed !== undefined) failures += weightOf(failed);
      return failed !== undefined;
    }),
    { breaker: inARow, halfOpenAfter: 0 },
  );
  let openUntilMs = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  let reason: R | undefined;
  breaker.onBreak((event) => {
    isOpen = true;
    if (clock.now() < openUntilMs) return;
    openUntilMs = clock.now() + limits.coolDownMs;
    reason = 'error' in event ? reasonOf(event.error) : undefined;
    if (reason !== undefined) onOpen(reason);
  });
  breaker.onReset(() => {
    isOpen = false;
  });
  return {
    async execute(call, refusal) {
      const checked = async () => {
        const restMs = openUntilMs - clock.now();
        if (restMs > 0 && reason !== undefined) throw refusal(reason, Math.ceil(restMs / 1_000));
        return call(isOpen);
      };
      // Checked here too, so that a refusal does not count as the trial call.
      if (clock.now() < openUntilMs) return checked();
      return breaker.execute(checked);
    },
    openUntilMs: () => (clock.now() < openUntilMs ? openUntilMs : null),
  };
}

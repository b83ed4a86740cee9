import { ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel';
import type { FailureReason } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { BreakerLimits } from './config.ts';
import { UpstreamError } from './errors.ts';

/** Failures of the provider itself. A refusal or a malformed row does not predict the next request. */
const BREAKING: ReadonlySet<FailureReason> = new Set(['unreachable', 'timeout', 'server_error', 'overloaded']);

/**
 * Fail at once while the provider is known to be down. After the cool-down one call is the trial, and the others wait for its
 * result.
 */
export function createCircuitBreaker(limits: BreakerLimits, clock: Clock, logger: Logger) {
  // The cool-down runs on the injected clock, because cockatiel uses the system's.
  const breaker = circuitBreaker(
    handleWhen((thrown) => thrown instanceof UpstreamError && BREAKING.has(thrown.reason)),
    { breaker: new ConsecutiveBreaker(limits.failures), halfOpenAfter: 0 },
  );
  let openUntilMs = Number.NEGATIVE_INFINITY;
  let reason: FailureReason = 'unreachable';
  breaker.onBreak((event) => {
    if (clock.now() < openUntilMs) return;
    openUntilMs = clock.now() + limits.coolDownMs;
    if ('error' in event && event.error instanceof UpstreamError) reason = event.error.reason;
    logger.warn({ reason, coolDownMs: limits.coolDownMs }, 'upstream resting');
  });
  return {
    async execute<T>(
      call: () => Promise<T>,
      refusal: (reason: FailureReason, retryAfterSec: number) => UpstreamError,
    ): Promise<T> {
      const checked = async () => {
        const restMs = openUntilMs - clock.now();
        if (restMs > 0) throw refusal(reason, Math.ceil(restMs / 1000));
        return call();
      };
      // Checked here too, so that a refusal does not count as the trial call.
      if (clock.now() < openUntilMs) return checked();
      return breaker.execute(checked);
    },
  };
}

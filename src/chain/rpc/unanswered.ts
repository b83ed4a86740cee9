import type { FailureReason } from '../../domain/facts.ts';
import { reasonOfStatus } from '../../domain/outside-answer.ts';

/** A refusal by HTTP status, with its `Retry-After`. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly retryAfter: string | null;

  constructor(details: string, retryAfter: string | null) {
    super(details);
    this.retryAfter = retryAfter;
  }
}

/** A request that has no answer and is not repeated: another try would make the caller wait again. */
export class UnansweredError extends Error {
  /** viem rethrows errors of this name unchanged and without another try. */
  override readonly name = 'AbortError';
  readonly reason: FailureReason;
  readonly retryAfterSec: number | undefined;

  constructor(reason: FailureReason, retryAfterSec?: number) {
    super(`The node did not answer (${reason}).`);
    this.reason = reason;
    this.retryAfterSec = retryAfterSec;
  }
}

/** Reason of a request that failed with a status, or without one. */
export function reasonOfAnswer(status: number | undefined): FailureReason {
  if (status === undefined) return 'unreachable';
  // A success without the answers.
  return status < 400 ? 'malformed' : reasonOfStatus(status);
}

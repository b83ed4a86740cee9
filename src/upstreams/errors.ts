import type { FailureReason } from '../domain/facts.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';

/**
 * A provider gave no usable answer. Carries the provider's public name and a reason. It never has a cause, because network,
 * JSON and schema errors quote URLs (with keys) and bodies.
 */
export class UpstreamError extends UpstreamUnavailableError {
  readonly provider: string;
  readonly reason: FailureReason;

  constructor(provider: string, reason: FailureReason, retryAfterSec?: number) {
    super(provider, reason, retryAfterSec === undefined ? {} : { retryAfterSec });
    this.provider = provider;
    this.reason = reason;
  }
}

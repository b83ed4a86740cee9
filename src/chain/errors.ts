import { BaseError, HttpRequestError, LimitExceededRpcError, RpcRequestError, TimeoutError } from 'viem';
import type { FailureReason } from '../domain/facts.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';

/** Public name of the chain among the sources of facts. */
export const CHAIN_SOURCE = 'chain';

/** The chain gave no usable answer at all. It has no cause: the client's texts quote the node's URL, which may hold a key. */
export class ChainReadError extends UpstreamUnavailableError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, retryAfterSec?: number) {
    super(CHAIN_SOURCE, reason, retryAfterSec === undefined ? {} : { retryAfterSec });
    this.reason = reason;
  }
}

/** Turn whatever a request threw into a `ChainReadError`. An abort is rethrown as it is. */
export function toChainReadError(error: unknown, signal?: AbortSignal): ChainReadError {
  if (signal?.aborted) throw signal.reason;
  if (error instanceof ChainReadError) return error;
  if (!(error instanceof BaseError)) return new ChainReadError('unreachable');
  const status = error.walk((cause) => cause instanceof HttpRequestError);
  if (status instanceof HttpRequestError) {
    if (status.cause instanceof Error && status.cause.name === 'TimeoutError') return new ChainReadError('timeout');
    return new ChainReadError(reasonOfStatus(status.status), retryAfterOf(status.headers));
  }
  if (error.walk((cause) => cause instanceof TimeoutError)) return new ChainReadError('timeout');
  if (error.walk((cause) => cause instanceof LimitExceededRpcError)) return new ChainReadError('rate_limited');
  if (error.walk((cause) => cause instanceof RpcRequestError)) return new ChainReadError('server_error');
  return new ChainReadError('malformed');
}

function reasonOfStatus(status: number | undefined): FailureReason {
  if (status === undefined) return 'unreachable';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'rejected' : 'malformed';
}

function retryAfterOf(headers: Headers | undefined): number | undefined {
  const value = headers?.get('retry-after');
  return value && /^\d{1,5}$/.test(value) ? Number(value) : undefined;
}

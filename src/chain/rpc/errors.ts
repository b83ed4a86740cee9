import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem';
import type { FailureReason } from '../../domain/facts.ts';
import { UpstreamUnavailableError } from '../../shared/errors.ts';
import { classifyNodeError, type NodeError, waitSecOf } from './node-error.ts';
import { RefusedError, reasonOfAnswer, UnansweredError } from './unanswered.ts';

/** Public name of the chain among the sources of facts. */
export const CHAIN_SOURCE = 'chain';

/**
 * The chain gave no usable answer. It has no cause, because the client's messages quote the node's URL, which may contain a
 * key.
 */
export class ChainReadError extends UpstreamUnavailableError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, retryAfterSec?: number) {
    super(CHAIN_SOURCE, reason, retryAfterSec === undefined ? {} : { retryAfterSec });
    this.reason = reason;
  }
}

/** The node does not have the requested block. Another node, or the same one a moment later, may have it. */
export class BlockMissingError extends ChainReadError {
  constructor(reason: FailureReason = 'missing') {
    super(reason);
  }
}

/** Convert any error of a request to a `ChainReadError`. An abort is rethrown unchanged. */
export function toChainReadError(error: unknown, signal?: AbortSignal): ChainReadError {
  if (signal?.aborted) throw signal.reason;
  if (error instanceof ChainReadError) return error;
  if (error instanceof UnansweredError) return new ChainReadError(error.reason, error.retryAfterSec);
  if (!(error instanceof BaseError)) return new ChainReadError('unreachable');
  const status = error.walk((cause) => cause instanceof HttpRequestError);
  if (status instanceof HttpRequestError) {
    return new ChainReadError(reasonOfAnswer(status.status), retryAfterOf(status.cause));
  }
  if (error.walk((cause) => cause instanceof TimeoutError)) return new ChainReadError('timeout');
  const nodeError = nodeErrorIn(error);
  if (!nodeError) return new ChainReadError('malformed');
  const kind = classifyNodeError(nodeError);
  if (kind === 'missing') return new BlockMissingError();
  if (kind === 'range') return new ChainReadError('server_error');
  return new ChainReadError(kind, kind === 'rate_limited' ? waitSecOf(nodeError) : undefined);
}

/** The error that the node answered; `undefined` = it answered none. */
export function nodeErrorIn(error: BaseError): NodeError | undefined {
  const rpcError = error.walk((cause) => cause instanceof RpcRequestError);
  return rpcError instanceof RpcRequestError ? { code: rpcError.code, message: rpcError.details } : undefined;
}

function retryAfterOf(cause: unknown): number | undefined {
  const value = cause instanceof RefusedError ? cause.retryAfter : null;
  return value && /^\d{1,5}$/.test(value) ? Number(value) : undefined;
}

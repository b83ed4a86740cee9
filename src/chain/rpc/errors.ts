import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem';
import type { FailureReason } from '../../domain/facts.ts';
import { UpstreamUnavailableError } from '../../shared/errors.ts';
import { RefusedError, reasonOfStatus, UnansweredError } from './unanswered.ts';

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

/**
 * Error codes and messages of nodes for a block that they do not have, or whose state was pruned: EIP-1474's code, and the
 * messages of geth (different for a block by hash), Nethermind, Erigon, Reth, Nitro and of a load balancer.
 */
const RESOURCE_NOT_FOUND = -32001;
const NO_BLOCK =
  /header (for hash )?not found|missing header|block .{0,80}not found|unknown block|could not find block|(block|header|0x[0-9a-f]{64}|\d+) could not be found|not (currently )?canonical|does not have the requested block|missing trie node|beyond (the )?current head|no state available|state .{0,80}(not available|pruned)/i;
/** Whether the message of a node says that it lacks a block. */
export const saysNoBlock = (message: string): boolean => NO_BLOCK.test(message);
/** JSON-RPC codes for too many requests: EIP-1474, Alchemy, QuickNode. */
export const LIMIT_CODES: readonly number[] = [-32005, 429, -32007];

/** Convert any error of a request to a `ChainReadError`. An abort is rethrown unchanged. */
export function toChainReadError(error: unknown, signal?: AbortSignal): ChainReadError {
  if (signal?.aborted) throw signal.reason;
  if (error instanceof ChainReadError) return error;
  if (error instanceof UnansweredError) return new ChainReadError(error.reason, error.retryAfterSec);
  if (!(error instanceof BaseError)) return new ChainReadError('unreachable');
  const status = error.walk((cause) => cause instanceof HttpRequestError);
  if (status instanceof HttpRequestError) {
    return new ChainReadError(reasonOfStatus(status.status), retryAfterOf(status.cause));
  }
  const rpcError = error.walk((cause) => cause instanceof RpcRequestError);
  if (rpcError instanceof RpcRequestError && (rpcError.code === RESOURCE_NOT_FOUND || saysNoBlock(rpcError.details))) {
    return new BlockMissingError();
  }
  if (error.walk((cause) => cause instanceof TimeoutError)) return new ChainReadError('timeout');
  if (rpcError instanceof RpcRequestError && LIMIT_CODES.includes(rpcError.code))
    return new ChainReadError('rate_limited');
  if (rpcError) return new ChainReadError('server_error');
  return new ChainReadError('malformed');
}

function retryAfterOf(cause: unknown): number | undefined {
  const value = cause instanceof RefusedError ? cause.retryAfter : null;
  return value && /^\d{1,5}$/.test(value) ? Number(value) : undefined;
}

import { BaseError, HttpRequestError, RpcRequestError } from 'viem';
import type { FailureReason } from '../../domain/facts.ts';
import { BlockMissingError, ChainReadError, saysNoBlock, toChainReadError } from '../rpc/errors.ts';
import { MAX_LOGS } from './schema.ts';

/** The node does not answer this range of blocks; it may answer a smaller one. */
export class RangeRefusedError extends ChainReadError {
  readonly why: 'refused' | 'timeout';

  constructor(why: 'refused' | 'timeout', reason: FailureReason) {
    super(reason);
    this.why = why;
  }
}

/** Words of nodes and gateways for too many requests, which a smaller range does not help. */
const TOO_MANY_REQUESTS = /rate.?limit|too many requests|throughput|compute units|credits|quota|per second|capacity/i;
/** Answers to a range that is too large for the gateway in front of a node. */
const TOO_LARGE_STATUS: readonly number[] = [400, 413, 422];

/**
 * Convert an error of `eth_getLogs`. Nodes refuse large ranges in many words and codes, -32005, -32000, -32602, -32603 and
 * -32614 among them, so every error of the method counts as a refusal of the range, unless it is of a limit of requests. An
 * answer that is too large, or too late, is the same.
 */
export function toLogsError(error: unknown, signal?: AbortSignal): ChainReadError {
  const converted = error instanceof ChainReadError ? error : toChainReadError(error, signal);
  if (!(error instanceof BaseError)) {
    if (converted.reason === 'timeout') return new RangeRefusedError('timeout', 'timeout');
    return converted.reason === 'malformed' ? new RangeRefusedError('refused', 'malformed') : converted;
  }
  const status = error.walk((cause) => cause instanceof HttpRequestError);
  if (status instanceof HttpRequestError) {
    const isTooLarge = status.status !== undefined && TOO_LARGE_STATUS.includes(status.status);
    return isTooLarge ? new RangeRefusedError('refused', converted.reason) : converted;
  }
  const rpcError = error.walk((cause) => cause instanceof RpcRequestError);
  if (rpcError instanceof RpcRequestError) {
    // A smaller range ends with the same block. Some gateways have the code of a missing block for a range that is too large.
    if (saysNoBlock(rpcError.details)) return new BlockMissingError();
    if (TOO_MANY_REQUESTS.test(rpcError.details) && !/range|blocks|results|logs/i.test(rpcError.details)) {
      return new ChainReadError('rate_limited');
    }
    return new RangeRefusedError('refused', converted.reason);
  }
  return converted;
}

/** More logs than one answer may have. */
export function isTooMany(answer: unknown): boolean {
  return Array.isArray(answer) && answer.length > MAX_LOGS;
}

import { BaseError, HttpRequestError } from 'viem';
import type { FailureReason } from '../../domain/facts.ts';
import { ChainReadError, nodeErrorIn, toChainReadError } from '../rpc/errors.ts';
import { classifyNodeError } from '../rpc/node-error.ts';
import { MAX_LOGS } from './schema.ts';

/** The node does not answer this range of blocks; it may answer a smaller one. */
export class RangeRefusedError extends ChainReadError {
  readonly why: 'refused' | 'timeout';

  constructor(why: 'refused' | 'timeout', reason: FailureReason) {
    super(reason);
    this.why = why;
  }
}

/** Answers to a range that is too large for the gateway in front of a node. */
const TOO_LARGE_STATUS: readonly number[] = [400, 413, 422];

/**
 * Convert an error of `eth_getLogs`. An error about the range, an answer that is too large, or one that is too late are refusals
 * of the range; every other error is that of any call, because a smaller range would only be one more request.
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
  const nodeError = nodeErrorIn(error);
  const kind = nodeError && classifyNodeError(nodeError, 'eth_getLogs');
  if (kind === 'range') return new RangeRefusedError('refused', 'server_error');
  return kind === 'timeout' ? new RangeRefusedError('timeout', 'timeout') : converted;
}

/** More logs than one answer may have. */
export function isTooMany(answer: unknown): boolean {
  return Array.isArray(answer) && answer.length > MAX_LOGS;
}

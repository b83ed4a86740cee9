import type { Clock } from '../shared/clock.ts';
import { isFromFuture } from '../shared/observed.ts';
import { ChainReadError } from './rpc/errors.ts';

/**
 * Refuse a reading at a block with a time in the future (unix seconds).
 * @throws ChainReadError `implausible`
 */
export function requireBlockTime(timestamp: bigint, clock: Clock): bigint {
  if (isFromFuture(Number(timestamp) * 1_000, clock.now())) throw new ChainReadError('implausible');
  return timestamp;
}

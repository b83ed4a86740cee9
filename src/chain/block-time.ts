import type { Clock } from '../shared/clock.ts';
import { isFromFuture } from '../shared/observed.ts';
import { ChainReadError } from './rpc/errors.ts';

/** Refuse what was read at a block of the future, in unix seconds. @throws ChainReadError `implausible` */
export function requireBlockTime(timestamp: bigint, clock: Clock): bigint {
  if (isFromFuture(Number(timestamp) * 1_000, clock.now())) throw new ChainReadError('implausible');
  return timestamp;
}

import { BlockMissingError, ChainReadError } from '../../chain/rpc/errors.ts';
import { RETRY_AFTER_SEC } from '../../shared/calls/wait-timeout.ts';
import type { Timers } from '../../shared/timers.ts';

/** Pauses between the attempts, ms: nodes behind one address have a new block within a second of each other. */
const PAUSES_MS = [250, 500, 1_000] as const;

/**
 * Read at a given block, again while the node that answers does not have it: another one behind the same address may have named
 * it.
 * @throws ChainReadError `missing` when none has it, and any other error of the reading
 */
export async function untilThere<T>(timers: Timers, read: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof BlockMissingError)) throw error;
    }
    await new Promise<void>((resolve) => timers.setTimeout(resolve, pauseMs));
  }
  try {
    return await read();
  } catch (error) {
    throw error instanceof BlockMissingError ? new ChainReadError(error.reason, RETRY_AFTER_SEC) : error;
  }
}

import type { ChainId } from '../shared/ids.ts';
import type { Warmer } from './types.ts';

/** Reads the logs of the positions of a chain; the number of new ones. */
export type IndexPositions = (chainId: ChainId, signal: AbortSignal) => Promise<number>;

/** Create the job that reads the logs of positions. It runs in the runner, so that one process reads a chain at a time. */
export function createPositionHistoryWarmer(index: IndexPositions, chainId: ChainId, everySec: number): Warmer {
  return {
    name: `position-history:${chainId}`,
    groups: [],
    everySec,
    phase: 2,
    run: async (signal) => ({ items: await index(chainId, signal), failures: 0, retryable: 0 }),
  };
}

import type { Clock } from '../shared/clock.ts';
import { readHeader } from './logs/headers.ts';
import type { Reading } from './reading.ts';
import { BlockMissingError } from './rpc/errors.ts';
import type { ReadOptions } from './types.ts';

/** The mean time between blocks of a chain, as measured over its newest ones. */
export interface BlockTime {
  /** Turn seconds into a number of blocks, rounded up. */
  blocksIn(seconds: number): bigint;
}

/** Blocks that are measured over, and the time for which it holds: both are rough, and so are the durations that use it. */
const MEASURED_BLOCKS = 1_000n;
const MEASURED_FOR_MS = 600_000;
/** No chain is faster. Without it, times of whole seconds could make a block take none. */
const LEAST_MS = 50;

/** Create the measurement of the block time of one chain. @throws ChainReadError */
export function createBlockTime(clock: Clock) {
  let measured: { readonly msPerBlock: number; readonly atMs: number } | undefined;
  return async (reading: Pick<Reading, 'client' | 'block'>, options: ReadOptions = {}): Promise<BlockTime> => {
    const ageMs = measured && clock.now() - measured.atMs;
    if (ageMs === undefined || ageMs < 0 || ageMs > MEASURED_FOR_MS) {
      const { number, timestamp } = reading.block;
      const before = number > MEASURED_BLOCKS ? number - MEASURED_BLOCKS : 0n;
      const past = await readHeader(reading, before, clock, options);
      if (!past) throw new BlockMissingError();
      const passedMs = Number(timestamp) * 1_000 - past.atMs;
      measured = { msPerBlock: Math.max(LEAST_MS, passedMs / Math.max(1, Number(number - before))), atMs: clock.now() };
    }
    const { msPerBlock } = measured ?? { msPerBlock: LEAST_MS };
    return { blocksIn: (seconds) => BigInt(Math.ceil((seconds * 1_000) / msPerBlock)) };
  };
}

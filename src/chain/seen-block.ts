import { z } from 'zod';

/** The block that a reading was made at. */
export interface SeenBlock {
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Absent where the node did not tell the number of just this block. */
  readonly number?: bigint;
}

/** A quantity of a node: no larger than any block's number or time will ever be. */
const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(BigInt);
const header = z.object({ number: quantity, timestamp: quantity });

/**
 * Number the block of a reading by the newest block that the node told in the same request. The contracts cannot be asked: on
 * a rollup `block.number` may be that of the parent chain. Where the two are not of one second, a block came in between.
 */
export function blockSeen(timestamp: bigint, newest: unknown): SeenBlock {
  const told = header.safeParse(newest);
  if (!told.success || told.data.timestamp !== timestamp) return { timestamp };
  return { timestamp, number: told.data.number };
}

import { numberToHex } from 'viem';
import { z } from 'zod';
import type { Clock } from '../../shared/clock.ts';
import type { Hex } from '../../shared/ids.ts';
import { requireBlockTime } from '../block-time.ts';
import type { Reading } from '../reading.ts';
import { ChainReadError, toChainReadError } from '../rpc/errors.ts';
import type { ReadOptions } from '../types.ts';

/** A block of the node's chain. */
export interface BlockHeader {
  readonly number: bigint;
  readonly hash: Hex;
  /** Time, ms. */
  readonly atMs: number;
}

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(BigInt);
const header = z.object({
  number: quantity,
  hash: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/i)
    .transform((text) => text.toLowerCase() as Hex),
  timestamp: quantity,
});

/**
 * Read a block by its number; `null` = the node does not have it.
 * @throws ChainReadError
 */
export async function readHeader(
  { client }: Pick<Reading, 'client'>,
  number: bigint,
  clock: Clock,
  { signal }: ReadOptions = {},
): Promise<BlockHeader | null> {
  const answer: unknown = await client
    .request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] }, signal ? { signal } : {})
    .catch((error: unknown) => {
      throw toChainReadError(error, signal);
    });
  if (answer === null) return null;
  const parsed = header.safeParse(answer);
  if (!parsed.success || parsed.data.number !== number) throw new ChainReadError('malformed');
  return { number, hash: parsed.data.hash, atMs: Number(requireBlockTime(parsed.data.timestamp, clock)) * 1_000 };
}

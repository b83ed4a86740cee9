import { numberToHex } from 'viem';
import { z } from 'zod';
import type { Hex } from '../shared/ids.ts';
import type { NodeCapabilities } from './rpc/capabilities.ts';
import type { ChainClient } from './rpc/client.ts';
import { ChainReadError, toChainReadError } from './rpc/errors.ts';
import type { BlockRef, ReadOptions } from './types.ts';

/** A block from a node. All values of one reading are of one block. */
export interface NamedBlock extends BlockRef {
  readonly hash: Hex;
  /** The node that returned the block, by its position in RPC_URL_*. */
  readonly nodeIndex: number;
}

/** A block in requests: by its hash, so that a fork or a node at another height cannot answer, otherwise by its number. */
export type BlockName = Hex | { readonly blockHash: Hex };

/** One reading: a node, and the block of all its requests. */
export interface Reading {
  readonly client: ChainClient;
  readonly block: NamedBlock;
  readonly at: BlockName;
  /** Limits of the node, as known when the reading began. */
  readonly limits: {
    /** Gas of one call; `null` = not known. */
    readonly callGas: bigint | null;
    /** Calls in one HTTP request. */
    readonly batchSize: number;
  };
  /** Capabilities of the node; waits for the first probe. */
  capabilities(): Promise<NodeCapabilities>;
  /** Report that a method failed although its probe passed: it is not used before the next probe. */
  distrust(method: 'simulateV1' | 'stateOverrides'): void;
}

/** A quantity in an answer, bounded by the digits of the largest plausible block number or time. */
export const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(BigInt);
export const hash = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value));
const header = z.object({ number: quantity, hash, timestamp: quantity });

/**
 * Read the newest block of a node.
 * @throws ChainReadError
 */
export async function newestBlock(
  client: ChainClient,
  nodeIndex: number,
  { signal }: ReadOptions = {},
): Promise<NamedBlock> {
  const answer: unknown = await client
    .request({ method: 'eth_getBlockByNumber', params: ['latest', false] }, signal ? { signal } : {})
    .catch((error: unknown) => {
      throw toChainReadError(error, signal);
    });
  const parsed = header.safeParse(answer);
  if (!parsed.success) throw new ChainReadError('malformed');
  return { ...parsed.data, nodeIndex: nodeIndex };
}

/** Name a block in the form that the node supports. */
export function nameOf({ number, hash: blockHash }: NamedBlock, { blockHash: byHash }: NodeCapabilities): BlockName {
  return byHash === 'works' ? { blockHash } : numberToHex(number);
}

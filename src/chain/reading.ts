import { numberToHex } from 'viem';
import { z } from 'zod';
import type { Hex } from '../shared/ids.ts';
import type { NodeCapabilities } from './rpc/capabilities.ts';
import type { ChainClient } from './rpc/client.ts';
import { ChainReadError, toChainReadError } from './rpc/errors.ts';
import type { BlockRef, ReadOptions } from './types.ts';

/** A block as a node told it: everything of one reading is of it. */
export interface NamedBlock extends BlockRef {
  readonly hash: Hex;
  /** Which node told it, by its place in RPC_URL_*. */
  readonly toldBy: number;
}

/** A block as requests name it: by its hash, so that a fork or a node at another height cannot answer, else by its number. */
export type BlockName = Hex | { readonly blockHash: Hex };

/** One reading: one node, and the block that all of its requests name. */
export interface Reading {
  readonly client: ChainClient;
  readonly block: NamedBlock;
  readonly at: BlockName;
  /** What the node takes, as far as it was known when the reading began. */
  readonly limits: {
    /** Gas of one call; `null` = not known. */
    readonly callGas: bigint | null;
    /** Calls in one HTTP request. */
    readonly batchSize: number;
  };
  /** What the node can do; waits for the first probe. */
  capabilities(): Promise<NodeCapabilities>;
  /** Say that a method which the probe believed in has failed: it is not used before the next probe. */
  distrust(method: 'simulateV1' | 'stateOverrides'): void;
}

/** A quantity of a node: no larger than any block's number or time will ever be. */
const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(BigInt);
const hash = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value));
const header = z.object({ number: quantity, hash, timestamp: quantity });

/** Ask a node for its newest block. @throws ChainReadError */
export async function newestBlock(
  client: ChainClient,
  toldBy: number,
  { signal }: ReadOptions = {},
): Promise<NamedBlock> {
  const answer: unknown = await client
    .request({ method: 'eth_getBlockByNumber', params: ['latest', false] }, signal ? { signal } : {})
    .catch((error: unknown) => {
      throw toChainReadError(error, signal);
    });
  const told = header.safeParse(answer);
  if (!told.success) throw new ChainReadError('malformed');
  return { ...told.data, toldBy };
}

/** Name a block as the node takes it. */
export function nameOf({ number, hash: blockHash }: NamedBlock, { blockHash: byHash }: NodeCapabilities): BlockName {
  return byHash === 'works' ? { blockHash } : numberToHex(number);
}

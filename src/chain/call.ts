import { numberToHex } from 'viem';
import type { Address, Hex } from '../shared/ids.ts';
import type { ChainClient } from './client.ts';
import { toChainReadError } from './errors.ts';
import type { ReadOptions } from './types.ts';

/** Run a call at a block; without a receiver the data is creation code. @throws ChainReadError */
export async function callAt(
  client: ChainClient,
  call: { readonly to?: Address; readonly data: Hex },
  blockNumber: bigint,
  { signal }: ReadOptions = {},
): Promise<Hex> {
  try {
    return await client.request(
      { method: 'eth_call', params: [call, numberToHex(blockNumber)] },
      signal ? { signal } : {},
    );
  } catch (error) {
    throw toChainReadError(error, signal);
  }
}

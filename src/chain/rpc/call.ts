import type { Address, Hex } from '../../shared/ids.ts';
import type { Reading } from '../reading.ts';
import type { ReadOptions } from '../types.ts';
import { toChainReadError } from './errors.ts';

/** Run a call at the block of a reading; without a receiver the data is creation code. @throws ChainReadError */
export async function callAt(
  { client, at }: Reading,
  call: { readonly to?: Address; readonly data: Hex },
  { signal }: ReadOptions = {},
): Promise<Hex> {
  try {
    return await client.request({ method: 'eth_call', params: [call, at] }, signal ? { signal } : {});
  } catch (error) {
    throw toChainReadError(error, signal);
  }
}

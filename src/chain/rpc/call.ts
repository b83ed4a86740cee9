import type { Address, Hex } from '../../shared/ids.ts';
import type { Reading } from '../reading.ts';
import type { ReadOptions } from '../types.ts';
import { toChainReadError } from './errors.ts';

export interface EthCallOptions extends ReadOptions {
  /** Call at the newest final block instead of the reading's block. */
  readonly finalized?: boolean | undefined;
}

/**
 * Run a call at the block of a reading; without a receiver the data is creation code.
 * @throws ChainReadError
 */
export async function callAt(
  { client, at }: Reading,
  call: { readonly to?: Address | undefined; readonly data: Hex; readonly gas?: Hex | undefined },
  { signal, finalized }: EthCallOptions = {},
): Promise<Hex> {
  try {
    const params = [call, finalized ? 'finalized' : at] as [typeof call, Hex];
    return await client.request({ method: 'eth_call', params }, signal ? { signal } : {});
  } catch (error) {
    throw toChainReadError(error, signal);
  }
}

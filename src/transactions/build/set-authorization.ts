import { morphoBlueAbi as abi } from '../../abi/morpho-blue.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { contractCall } from './call.ts';

/** Let a contract act on the caller's own lending positions, or no longer. Morpho reverts when nothing would change. */
export function buildSetAuthorization(
  { morphoBlue }: ChainContracts,
  words: { readonly authorized: Address; readonly newIsAuthorized: boolean },
) {
  const args = [words.authorized, words.newIsAuthorized] as const;
  return contractCall(morphoBlue, { abi, functionName: 'setAuthorization', args }, words);
}

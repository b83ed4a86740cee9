import { encodeFunctionData } from 'viem';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltCall } from '../types.ts';
import { builtCall } from './call.ts';

export interface SetAuthorizationArgs {
  readonly authorized: Address;
  readonly newIsAuthorized: boolean;
}

/** Let a contract act on the caller's own lending positions, or no longer. Morpho reverts when it is so already. */
export function buildSetAuthorization(
  contracts: ChainContracts,
  args: SetAuthorizationArgs,
): BuiltCall<'setAuthorization', SetAuthorizationArgs> {
  const data = encodeFunctionData({
    abi: morphoBlueAbi,
    functionName: 'setAuthorization',
    args: [args.authorized, args.newIsAuthorized],
  });
  return builtCall(contracts.morphoBlue, data, 0n, 'setAuthorization', args);
}

import { encodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltCall } from '../types.ts';
import { builtCall } from './call.ts';

export interface RepayArgs {
  readonly user: Address;
  readonly positionId: bigint;
  readonly amountRepay: bigint;
  readonly borrowShares: bigint;
}

/** Repay with loan tokens that the user holds: `borrowShares` when not 0 (max uint256 = the whole debt), out of `amountRepay`, which is never 0; what the shares do not cost of it comes back. */
export function buildRepay(contracts: ChainContracts, args: RepayArgs): BuiltCall<'repay', RepayArgs> {
  const { user, positionId, amountRepay, borrowShares } = args;
  const data = encodeFunctionData({
    abi: flashLeverageAbi,
    functionName: 'repay',
    args: [user, positionId, amountRepay, borrowShares],
  });
  return builtCall(contracts.flashLeverage, data, 0n, 'repay', args);
}

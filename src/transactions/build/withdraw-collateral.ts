import { encodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { BuiltCall } from '../types.ts';
import { builtCall } from './call.ts';

export interface WithdrawCollateralArgs {
  readonly positionId: bigint;
  readonly amountWithdraw: bigint;
}

/** Send collateral of the caller's position to the caller. */
export function buildWithdrawCollateral(
  contracts: ChainContracts,
  args: WithdrawCollateralArgs,
): BuiltCall<'withdrawCollateral', WithdrawCollateralArgs> {
  const { positionId, amountWithdraw } = args;
  const data = encodeFunctionData({
    abi: flashLeverageAbi,
    functionName: 'withdrawCollateral',
    args: [positionId, amountWithdraw],
  });
  return builtCall(contracts.flashLeverage, data, 0n, 'withdrawCollateral', args);
}

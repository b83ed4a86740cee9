import { encodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { BuiltCall, SwapData } from '../types.ts';
import { builtCall } from './call.ts';

export interface DeleverageArgs {
  readonly positionId: bigint;
  readonly amountCollateral: bigint;
  readonly swapData: SwapData;
  readonly minTokenOut: bigint;
}

/** Sell the collateral of the caller's position, repay its debt with the proceeds and send the rest to the caller. 0 = all of it. */
export function buildDeleverage(
  contracts: ChainContracts,
  args: DeleverageArgs,
): BuiltCall<'deleverage', DeleverageArgs> {
  const { positionId, amountCollateral, swapData, minTokenOut } = args;
  const data = encodeFunctionData({
    abi: flashLeverageAbi,
    functionName: 'deleverage',
    args: [positionId, amountCollateral, swapData, minTokenOut],
  });
  return builtCall(contracts.flashLeverage, data, 0n, 'deleverage', args);
}

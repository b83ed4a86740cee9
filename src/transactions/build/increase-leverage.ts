import { encodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { BuiltCall, SwapData } from '../types.ts';
import { builtCall } from './call.ts';

export interface IncreaseLeverageArgs {
  readonly positionId: bigint;
  readonly amountFlashLoan: bigint;
  readonly swapData: SwapData;
  readonly minTokenOut: bigint;
}

/** Borrow more through a flash loan and swap it into collateral of the same position. */
export function buildIncreaseLeverage(
  contracts: ChainContracts,
  args: IncreaseLeverageArgs,
): BuiltCall<'increaseLeverage', IncreaseLeverageArgs> {
  const { positionId, amountFlashLoan, swapData, minTokenOut } = args;
  const data = encodeFunctionData({
    abi: flashLeverageAbi,
    functionName: 'increaseLeverage',
    args: [positionId, amountFlashLoan, swapData, minTokenOut],
  });
  return builtCall(contracts.flashLeverage, data, 0n, 'increaseLeverage', args);
}

import { encodeFunctionData, zeroAddress } from 'viem';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltCall, SwapData } from '../types.ts';
import { builtCall } from './call.ts';
import type { LeverageParams } from './leverage.ts';

export interface SwapAndLeverageArgs {
  readonly tokenIn: Address;
  readonly amountIn: bigint;
  readonly swapData: SwapData;
  readonly minTokenOut: bigint;
  readonly leverageParams: LeverageParams;
}

/** Swap any token into collateral and open a position of the caller with what the swap gives. */
export function buildSwapAndLeverage(
  contracts: ChainContracts,
  args: SwapAndLeverageArgs,
): BuiltCall<'swapAndLeverage', SwapAndLeverageArgs> {
  const { tokenIn, amountIn, swapData, minTokenOut, leverageParams } = args;
  const data = encodeFunctionData({
    abi: flashLeverageRouterAbi,
    functionName: 'swapAndLeverage',
    args: [tokenIn, amountIn, swapData, minTokenOut, leverageParams],
  });
  const value = tokenIn === zeroAddress ? amountIn : 0n;
  return builtCall(contracts.flashLeverageRouter, data, value, 'swapAndLeverage', args);
}

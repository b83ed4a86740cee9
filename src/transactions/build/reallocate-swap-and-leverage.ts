import { encodeFunctionData, zeroAddress } from 'viem';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { BuiltCall } from '../types.ts';
import { builtCall } from './call.ts';
import { type ReallocateAndLeverageArgs, reallocateParams, reallocationFee } from './reallocate-and-leverage.ts';
import type { SwapAndLeverageArgs } from './swap-and-leverage.ts';

export type ReallocateSwapAndLeverageArgs = ReallocateAndLeverageArgs & SwapAndLeverageArgs;

/** Bring liquidity into the market, swap any token into collateral and open a position of the caller with what it gives. */
export function buildReallocateSwapAndLeverage(
  contracts: ChainContracts,
  args: ReallocateSwapAndLeverageArgs,
): BuiltCall<'reallocateSwapAndLeverage', ReallocateSwapAndLeverageArgs> {
  const { reallocations, supplyMarket, tokenIn, amountIn, swapData, minTokenOut, leverageParams } = args;
  const data = encodeFunctionData({
    abi: flashLeverageRouterAbi,
    functionName: 'reallocateSwapAndLeverage',
    args: [reallocateParams(reallocations, supplyMarket), tokenIn, amountIn, swapData, minTokenOut, leverageParams],
  });
  const value = reallocationFee(reallocations) + (tokenIn === zeroAddress ? amountIn : 0n);
  return builtCall(contracts.flashLeverageRouter, data, value, 'reallocateSwapAndLeverage', args);
}

import { encodeFunctionData, zeroAddress } from 'viem';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { BuiltCall } from '../types.ts';
import { builtCall } from './call.ts';
import type { SwapAndSupplyCollateralArgs } from './swap-and-supply-collateral.ts';

export interface SwapAndRepayArgs extends SwapAndSupplyCollateralArgs {
  /** Max uint256 = the whole debt; 0 = as much as the swap gives. */
  readonly borrowShares: bigint;
}

/** Swap any token into the loan token and repay with it; what is left over goes back to the caller. */
export function buildSwapAndRepay(
  contracts: ChainContracts,
  args: SwapAndRepayArgs,
): BuiltCall<'swapAndRepay', SwapAndRepayArgs> {
  const { user, positionId, marketId, tokenIn, amountIn, swapData, minTokenOut, borrowShares } = args;
  const data = encodeFunctionData({
    abi: flashLeverageRouterAbi,
    functionName: 'swapAndRepay',
    args: [user, positionId, marketId, tokenIn, amountIn, swapData, minTokenOut, borrowShares],
  });
  const value = tokenIn === zeroAddress ? amountIn : 0n;
  return builtCall(contracts.flashLeverageRouter, data, value, 'swapAndRepay', args);
}

import { encodeFunctionData, zeroAddress } from 'viem';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address, Hex } from '../../shared/ids.ts';
import type { BuiltCall, SwapData } from '../types.ts';
import { builtCall } from './call.ts';

export interface SwapAndSupplyCollateralArgs {
  readonly user: Address;
  readonly positionId: bigint;
  readonly marketId: Hex;
  readonly tokenIn: Address;
  readonly amountIn: bigint;
  readonly swapData: SwapData;
  readonly minTokenOut: bigint;
}

/** Swap any token into collateral and add all of it to the caller's position. */
export function buildSwapAndSupplyCollateral(
  contracts: ChainContracts,
  args: SwapAndSupplyCollateralArgs,
): BuiltCall<'swapAndSupplyCollateral', SwapAndSupplyCollateralArgs> {
  const { user, positionId, marketId, tokenIn, amountIn, swapData, minTokenOut } = args;
  const data = encodeFunctionData({
    abi: flashLeverageRouterAbi,
    functionName: 'swapAndSupplyCollateral',
    args: [user, positionId, marketId, tokenIn, amountIn, swapData, minTokenOut],
  });
  const value = tokenIn === zeroAddress ? amountIn : 0n;
  return builtCall(contracts.flashLeverageRouter, data, value, 'swapAndSupplyCollateral', args);
}

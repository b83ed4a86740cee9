import { encodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address, Hex } from '../../shared/ids.ts';
import type { BuiltCall, SwapData } from '../types.ts';
import { builtCall } from './call.ts';

export interface LeverageParams {
  readonly marketId: Hex;
  readonly amountCollateral: bigint;
  readonly amountFlashLoan: bigint;
  readonly swapData: SwapData;
  readonly minTokenOut: bigint;
}

export interface LeverageCallArgs {
  readonly user: Address;
  readonly params: LeverageParams;
}

/** Open a position with collateral that the user holds. */
export function buildLeverage(
  contracts: ChainContracts,
  args: LeverageCallArgs,
): BuiltCall<'leverage', LeverageCallArgs> {
  const data = encodeFunctionData({
    abi: flashLeverageAbi,
    functionName: 'leverage',
    args: [args.user, args.params],
  });
  return builtCall(contracts.flashLeverage, data, 0n, 'leverage', args);
}

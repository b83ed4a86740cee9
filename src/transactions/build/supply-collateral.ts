import { encodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltCall } from '../types.ts';
import { builtCall } from './call.ts';

export interface SupplyCollateralArgs {
  readonly user: Address;
  readonly positionId: bigint;
  readonly amountCollateral: bigint;
}

/** Add collateral that the user holds to a position. */
export function buildSupplyCollateral(
  contracts: ChainContracts,
  args: SupplyCollateralArgs,
): BuiltCall<'supplyCollateral', SupplyCollateralArgs> {
  const { user, positionId, amountCollateral } = args;
  const data = encodeFunctionData({
    abi: flashLeverageAbi,
    functionName: 'supplyCollateral',
    args: [user, positionId, amountCollateral],
  });
  return builtCall(contracts.flashLeverage, data, 0n, 'supplyCollateral', args);
}

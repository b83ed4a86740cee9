import { encodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { BuiltCall } from '../types.ts';
import { builtCall } from './call.ts';

export interface BorrowArgs {
  readonly positionId: bigint;
  readonly amountBorrow: bigint;
}

/** Borrow more against the caller's position and send it to the caller. */
export function buildBorrow(contracts: ChainContracts, args: BorrowArgs): BuiltCall<'borrow', BorrowArgs> {
  const { positionId, amountBorrow } = args;
  const data = encodeFunctionData({
    abi: flashLeverageAbi,
    functionName: 'borrow',
    args: [positionId, amountBorrow],
  });
  return builtCall(contracts.flashLeverage, data, 0n, 'borrow', args);
}

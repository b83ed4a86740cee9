import { encodeFunctionData } from 'viem';
import { equityRouterAbi } from '../../abi/equity-router.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import type { BuiltCall, SwapData } from '../types.ts';
import { builtCall } from './call.ts';

export interface EquityExitArgs {
  readonly stockMarketId: MarketId;
  readonly stockSwapData: SwapData;
  readonly minLoanOut: bigint;
}

/** Take the caller's whole stock leg apart: repay its debt, sell the stock and send the rest to the caller. */
export function buildEquityExit(router: Address, args: EquityExitArgs): BuiltCall<'equityExit', EquityExitArgs> {
  const data = encodeFunctionData({ abi: equityRouterAbi, functionName: 'equityExit', args: [args] });
  return builtCall(router, data, 0n, 'equityExit', args);
}

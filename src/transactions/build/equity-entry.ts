import { encodeFunctionData } from 'viem';
import { equityRouterAbi } from '../../abi/equity-router.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import type { BuiltCall, SwapData } from '../types.ts';
import { builtCall } from './call.ts';
import type { LeverageParams } from './leverage.ts';

export interface EquityEntryArgs {
  readonly depositToken: Address;
  readonly amountIn: bigint;
  readonly stockSwapData: SwapData;
  readonly stockMinOut: bigint;
  readonly stockMarketId: MarketId;
  readonly stockBorrowAmount: bigint;
  readonly yieldSwapData: SwapData;
  readonly yieldMinOut: bigint;
  /** `amountCollateral` is 0: the router sets it to what the zap gave. */
  readonly leverageParams: LeverageParams;
}

/** Enter a vault: buy the stock, post it as the caller's own collateral, borrow against it and open the yield loop. */
export function buildEquityEntry(router: Address, args: EquityEntryArgs): BuiltCall<'equityEntry', EquityEntryArgs> {
  const data = encodeFunctionData({ abi: equityRouterAbi, functionName: 'equityEntry', args: [args] });
  return builtCall(router, data, 0n, 'equityEntry', args);
}

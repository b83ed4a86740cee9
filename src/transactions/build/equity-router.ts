import { equityRouterAbi as abi } from '../../abi/equity-router.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import type { SwapData } from '../types.ts';
import { contractCall } from './call.ts';
import type { LeverageParams } from './flash-leverage.ts';

/* Calls of the router of equity vaults: it acts on the caller's own lending position of the stock. */

export interface EquityEntryArgs {
  readonly depositToken: Address;
  readonly amountIn: bigint;
  readonly stockSwapData: SwapData;
  readonly stockMinOut: bigint;
  readonly stockMarketId: MarketId;
  readonly stockBorrowAmount: bigint;
  readonly yieldSwapData: SwapData;
  readonly yieldMinOut: bigint;
  /** `amountCollateral` is 0: the router sets it to the output of the yield swap. */
  readonly leverageParams: LeverageParams;
}

/** Enter a vault: buy the stock, post it as the caller's own collateral, borrow against it and open the yield loop. */
export function buildEquityEntry(router: Address, words: EquityEntryArgs) {
  return contractCall(router, { abi, functionName: 'equityEntry', args: [words] }, words);
}

export interface EquityExitArgs {
  readonly stockMarketId: MarketId;
  readonly stockSwapData: SwapData;
  readonly minLoanOut: bigint;
}

/** Leave the stock leg: repay its whole debt, sell the stock and send the rest to the caller. */
export function buildEquityExit(router: Address, words: EquityExitArgs) {
  return contractCall(router, { abi, functionName: 'equityExit', args: [words] }, words);
}

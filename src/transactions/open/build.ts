import type { Chain, Market } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { buildApprovals } from '../build/approvals.ts';
import { swapDataOf } from '../build/call.ts';
import { buildLeverage, type LeverageParams } from '../build/flash-leverage.ts';
import {
  buildReallocateAndLeverage,
  buildReallocateSwapAndLeverage,
  buildSwapAndLeverage,
} from '../build/flash-leverage-router.ts';
import { paramsOf } from '../read/market-state.ts';
import type { WalletState } from '../read/wallet.ts';
import type { BuiltCall, OpenTerms } from '../types.ts';

export interface BuiltBundle {
  readonly approvals: readonly BuiltCall[];
  readonly tx: BuiltCall;
}

/** Build the approvals and the transaction of an open, all for the user who signs. */
export function buildOpen(
  chain: Chain,
  market: Market,
  terms: OpenTerms,
  user: Address,
  wallet: WalletState,
): BuiltBundle {
  const tx = mainCall(chain, market, terms, user);
  const { payToken: token, amountIn: amount } = terms;
  const allowance = wallet.allowances.get(tx.to) ?? 0n;
  return { approvals: buildApprovals({ token, spender: tx.to, amount, allowance }), tx };
}

function mainCall({ contracts }: Chain, market: Market, terms: OpenTerms, user: Address): BuiltCall {
  const { payToken, amountIn, entrySwap, reallocations, leverageSwap } = terms;
  const leverageParams: LeverageParams = {
    marketId: market.id,
    // The router replaces it by the output of the swap. By its interface it is the minimum, also of a quote above the reference.
    amountCollateral: entrySwap ? entrySwap.minOut : terms.amountCollateral,
    amountFlashLoan: terms.amountFlashLoan,
    swapData: swapDataOf(leverageSwap),
    minTokenOut: leverageSwap.minOut,
  };
  const reallocation = { reallocations, supplyMarket: paramsOf(market), leverageParams };
  if (!entrySwap) {
    return reallocations.length > 0
      ? buildReallocateAndLeverage(contracts, reallocation)
      : buildLeverage(contracts, { user, params: leverageParams });
  }
  const swap = {
    tokenIn: payToken.address,
    amountIn,
    swapData: swapDataOf(entrySwap),
    minTokenOut: entrySwap.minOut,
    leverageParams,
  };
  return reallocations.length > 0
    ? buildReallocateSwapAndLeverage(contracts, { ...reallocation, ...swap })
    : buildSwapAndLeverage(contracts, swap);
}

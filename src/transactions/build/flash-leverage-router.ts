import { zeroAddress } from 'viem';
import { flashLeverageRouterAbi as abi } from '../../abi/flash-leverage-router.ts';
import type { MarketParams } from '../../catalog/market-id.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address, Hex } from '../../shared/ids.ts';
import type { Reallocation, SwapData } from '../types.ts';
import { contractCall } from './call.ts';
import type { LeverageParams } from './flash-leverage.ts';

/* Calls of the router of FlashLeverage: it swaps the payment, and moves liquidity, before FlashLeverage runs. */

/** The payment of the caller; the zero address is the native token, and its amount the transaction's value. */
interface PaidSwap {
  readonly tokenIn: Address;
  readonly amountIn: bigint;
  readonly swapData: SwapData;
  readonly minTokenOut: bigint;
}

interface PaidIntoPosition extends PaidSwap {
  readonly user: Address;
  readonly positionId: bigint;
  readonly marketId: Hex;
}

interface Reallocating {
  readonly reallocations: readonly Reallocation[];
  /** The market that the liquidity flows into. */
  readonly supplyMarket: MarketParams;
  readonly leverageParams: LeverageParams;
}

/** Swap any token into collateral and open a position of the caller with it. */
export function buildSwapAndLeverage(
  { flashLeverageRouter }: ChainContracts,
  words: PaidSwap & { readonly leverageParams: LeverageParams },
) {
  const { tokenIn, amountIn, swapData, minTokenOut, leverageParams } = words;
  const args = [tokenIn, amountIn, swapData, minTokenOut, leverageParams] as const;
  const value = nativeValue(words);
  return contractCall(flashLeverageRouter, { abi, functionName: 'swapAndLeverage', args }, words, { value });
}

/** Bring liquidity into the market, then open a position of the caller with collateral that the caller holds. */
export function buildReallocateAndLeverage({ flashLeverageRouter }: ChainContracts, words: Reallocating) {
  const args = [reallocateParams(words), words.leverageParams] as const;
  const value = reallocationFee(words.reallocations);
  return contractCall(flashLeverageRouter, { abi, functionName: 'reallocateAndLeverage', args }, words, { value });
}

/** Bring liquidity into the market, swap any token into collateral and open a position of the caller with it. */
export function buildReallocateSwapAndLeverage(
  { flashLeverageRouter }: ChainContracts,
  words: Reallocating & PaidSwap,
) {
  const { tokenIn, amountIn, swapData, minTokenOut, leverageParams } = words;
  const args = [reallocateParams(words), tokenIn, amountIn, swapData, minTokenOut, leverageParams] as const;
  const value = reallocationFee(words.reallocations) + nativeValue(words);
  return contractCall(flashLeverageRouter, { abi, functionName: 'reallocateSwapAndLeverage', args }, words, { value });
}

/** Swap any token into collateral and add all of it to the caller's position. */
export function buildSwapAndSupplyCollateral({ flashLeverageRouter }: ChainContracts, words: PaidIntoPosition) {
  const { user, positionId, marketId, tokenIn, amountIn, swapData, minTokenOut } = words;
  const args = [user, positionId, marketId, tokenIn, amountIn, swapData, minTokenOut] as const;
  const value = nativeValue(words);
  return contractCall(flashLeverageRouter, { abi, functionName: 'swapAndSupplyCollateral', args }, words, { value });
}

/**
 * Swap any token into the loan token and repay with it; the rest goes back to the caller.
 * @param words `borrowShares`: max uint256 = the whole debt; 0 = as much as the swap gives
 */
export function buildSwapAndRepay(
  { flashLeverageRouter }: ChainContracts,
  words: PaidIntoPosition & { readonly borrowShares: bigint },
) {
  const { user, positionId, marketId, tokenIn, amountIn, swapData, minTokenOut, borrowShares } = words;
  const args = [user, positionId, marketId, tokenIn, amountIn, swapData, minTokenOut, borrowShares] as const;
  return contractCall(flashLeverageRouter, { abi, functionName: 'swapAndRepay', args }, words, {
    value: nativeValue(words),
  });
}

/** Sum the vaults' fees in wei: they travel in the transaction's value. */
export function reallocationFee(reallocations: readonly Reallocation[]): bigint {
  return reallocations.reduce((sum, { feeWei }) => sum + feeWei, 0n);
}

function nativeValue({ tokenIn, amountIn }: PaidSwap): bigint {
  return tokenIn === zeroAddress ? amountIn : 0n;
}

/** Reallocations as the router takes them. */
function reallocateParams({ reallocations, supplyMarket: supplyMarketParams }: Reallocating) {
  return reallocations.map(({ vault, feeWei, withdrawals }) => ({
    vault,
    fee: feeWei,
    withdrawals: withdrawals.map(({ market, amount }) => ({ marketParams: market, amount })),
    supplyMarketParams,
  }));
}

import { flashLeverageAbi as abi } from '../../abi/flash-leverage.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { Address, Hex } from '../../shared/ids.ts';
import type { SwapData } from '../types.ts';
import { contractCall } from './call.ts';

/* Calls of FlashLeverage: everything but an open is about a position of the caller. */

export interface LeverageParams {
  readonly marketId: Hex;
  readonly amountCollateral: bigint;
  readonly amountFlashLoan: bigint;
  readonly swapData: SwapData;
  readonly minTokenOut: bigint;
}

/** Open a position with collateral that the user holds. */
export function buildLeverage(
  { flashLeverage }: ChainContracts,
  words: { readonly user: Address; readonly params: LeverageParams },
) {
  const args = [words.user, words.params] as const;
  return contractCall(flashLeverage, { abi, functionName: 'leverage', args }, words);
}

/** Borrow more through a flash loan and swap it into collateral of the same position. */
export function buildIncreaseLeverage(
  { flashLeverage }: ChainContracts,
  words: {
    readonly positionId: bigint;
    readonly amountFlashLoan: bigint;
    readonly swapData: SwapData;
    readonly minTokenOut: bigint;
  },
) {
  const args = [words.positionId, words.amountFlashLoan, words.swapData, words.minTokenOut] as const;
  return contractCall(flashLeverage, { abi, functionName: 'increaseLeverage', args }, words);
}

/** Sell collateral (0 = all of it), repay debt with the proceeds and send the rest to the caller. */
export function buildDeleverage(
  { flashLeverage }: ChainContracts,
  words: {
    readonly positionId: bigint;
    readonly amountCollateral: bigint;
    readonly swapData: SwapData;
    readonly minTokenOut: bigint;
  },
) {
  const args = [words.positionId, words.amountCollateral, words.swapData, words.minTokenOut] as const;
  return contractCall(flashLeverage, { abi, functionName: 'deleverage', args }, words);
}

/** Add collateral that the user holds. */
export function buildSupplyCollateral(
  { flashLeverage }: ChainContracts,
  words: { readonly user: Address; readonly positionId: bigint; readonly amountCollateral: bigint },
) {
  const args = [words.user, words.positionId, words.amountCollateral] as const;
  return contractCall(flashLeverage, { abi, functionName: 'supplyCollateral', args }, words);
}

/** Send collateral to the caller. */
export function buildWithdrawCollateral(
  { flashLeverage }: ChainContracts,
  words: { readonly positionId: bigint; readonly amountWithdraw: bigint },
) {
  const args = [words.positionId, words.amountWithdraw] as const;
  return contractCall(flashLeverage, { abi, functionName: 'withdrawCollateral', args }, words);
}

/**
 * Repay with loan tokens that the user holds: `borrowShares` when not 0 (max uint256 = the whole debt), out of `amountRepay`,
 * which is never 0; the rest of it comes back.
 */
export function buildRepay(
  { flashLeverage }: ChainContracts,
  words: {
    readonly user: Address;
    readonly positionId: bigint;
    readonly amountRepay: bigint;
    readonly borrowShares: bigint;
  },
) {
  const args = [words.user, words.positionId, words.amountRepay, words.borrowShares] as const;
  return contractCall(flashLeverage, { abi, functionName: 'repay', args }, words);
}

/** Borrow more and send it to the caller. */
export function buildBorrow(
  { flashLeverage }: ChainContracts,
  words: { readonly positionId: bigint; readonly amountBorrow: bigint },
) {
  const args = [words.positionId, words.amountBorrow] as const;
  return contractCall(flashLeverage, { abi, functionName: 'borrow', args }, words);
}

import { encodeFunctionData } from 'viem';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import type { MarketParams } from '../../catalog/market-id.ts';
import type { ChainContracts } from '../../catalog/types.ts';
import type { BuiltCall, Reallocation } from '../types.ts';
import { builtCall } from './call.ts';
import type { LeverageParams } from './leverage.ts';

export interface ReallocateAndLeverageArgs {
  readonly reallocations: readonly Reallocation[];
  /** The market that the liquidity flows into. */
  readonly supplyMarket: MarketParams;
  readonly leverageParams: LeverageParams;
}

/** Bring liquidity into the market, then open a position of the caller with collateral that the caller holds. */
export function buildReallocateAndLeverage(
  contracts: ChainContracts,
  args: ReallocateAndLeverageArgs,
): BuiltCall<'reallocateAndLeverage', ReallocateAndLeverageArgs> {
  const { reallocations, supplyMarket, leverageParams } = args;
  const data = encodeFunctionData({
    abi: flashLeverageRouterAbi,
    functionName: 'reallocateAndLeverage',
    args: [reallocateParams(reallocations, supplyMarket), leverageParams],
  });
  const value = reallocationFee(reallocations);
  return builtCall(contracts.flashLeverageRouter, data, value, 'reallocateAndLeverage', args);
}

/** Reallocations as the router takes them. */
export function reallocateParams(reallocations: readonly Reallocation[], supplyMarketParams: MarketParams) {
  return reallocations.map(({ vault, feeWei, withdrawals }) => ({
    vault,
    fee: feeWei,
    withdrawals: withdrawals.map(({ market, amount }) => ({ marketParams: market, amount })),
    supplyMarketParams,
  }));
}

/** Sum the vaults' fees in wei: they travel in the transaction's value. */
export function reallocationFee(reallocations: readonly Reallocation[]): bigint {
  return reallocations.reduce((sum, { feeWei }) => sum + feeWei, 0n);
}

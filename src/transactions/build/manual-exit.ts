import { encodeFunctionData } from '../../abi/calldata.ts';
import { userProxyAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { ManualHolding } from '../../domain/position/types.ts';
import type { Address } from '../../shared/ids.ts';
import { paramsOf } from '../read/market-state.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { BuiltCall } from '../types.ts';
import { buildApprovals } from './approvals.ts';
import { contractCall } from './call.ts';

export interface ManualExitInput {
  /** The wallet that owns the position and signs. */
  readonly user: Address;
  /** The contract that holds it. */
  readonly proxy: Address;
  readonly holding: ManualHolding;
}

/**
 * Build the calls that end a position in manual mode, where FlashLeverage cannot act any more: the owner repays the debt
 * at the lending protocol, on behalf of the contract that holds the position, and takes the collateral out through it.
 */
export function buildManualExit(
  { contracts: { morphoBlue } }: Chain,
  market: Market,
  { user, proxy, holding }: ManualExitInput,
): readonly BuiltCall[] {
  const { collateral, borrowShares, debtLater } = holding;
  const params = paramsOf(market);
  const token = payTokenOf(market.loan);
  // The allowance is not read. A token whose allowance has to go through zero gets a reset in any case.
  const allowance = token.resetsApproval ? 1n : 0n;
  const repay = { abi: morphoBlueAbi, functionName: 'repay', args: [params, 0n, borrowShares, proxy, '0x'] } as const;
  const withdrawal = encodeFunctionData({
    abi: morphoBlueAbi,
    functionName: 'withdrawCollateral',
    args: [params, collateral, proxy, user],
  });
  return [
    ...(borrowShares === 0n
      ? []
      : [
          ...buildApprovals({ token, spender: morphoBlue, amount: debtLater, allowance }),
          contractCall(morphoBlue, repay, { onBehalf: proxy, shares: borrowShares }, { type: 'morphoRepay' }),
        ]),
    contractCall(
      proxy,
      { abi: userProxyAbi, functionName: 'execute', args: [withdrawal] },
      { withdrawCollateral: collateral, receiver: user },
    ),
  ];
}

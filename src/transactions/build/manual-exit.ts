import { encodeFunctionData } from 'viem';
import { userProxyAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { ManualHolding } from '../../domain/position/types.ts';
import type { Address } from '../../shared/ids.ts';
import { paramsOf } from '../read/market-state.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { BuiltCall } from '../types.ts';
import { buildApprovals } from './approvals.ts';
import { builtCall } from './call.ts';

export interface ManualExitInput {
  /** The wallet that owns the position and signs. */
  readonly user: Address;
  /** The contract that holds it. */
  readonly proxy: Address;
  readonly holding: ManualHolding;
}

/**
 * Build the calls that end a position in manual mode, where the product's contract can do nothing any more: the owner repays
 * the debt at the lending protocol, on behalf of the contract that holds the position, and takes the collateral out through it.
 */
export function buildManualExit(
  { contracts }: Chain,
  market: Market,
  { user, proxy, holding }: ManualExitInput,
): readonly BuiltCall[] {
  const { morphoBlue } = contracts;
  const { collateral, borrowShares, debtLater } = holding;
  const params = paramsOf(market);
  const token = payTokenOf(market.loan);
  const repayment =
    borrowShares === 0n
      ? []
      : [
          // The allowance is not read: of a token that wants it taken back first, it is.
          ...buildApprovals({
            token,
            spender: morphoBlue,
            amount: debtLater,
            allowance: token.resetsApproval ? 1n : 0n,
          }),
          builtCall(
            morphoBlue,
            encodeFunctionData({
              abi: morphoBlueAbi,
              functionName: 'repay',
              args: [params, 0n, borrowShares, proxy, '0x'],
            }),
            0n,
            'morphoRepay',
            { onBehalf: proxy, shares: borrowShares },
          ),
        ];
  const withdrawal = encodeFunctionData({
    abi: morphoBlueAbi,
    functionName: 'withdrawCollateral',
    args: [params, collateral, proxy, user],
  });
  const data = encodeFunctionData({ abi: userProxyAbi, functionName: 'execute', args: [withdrawal] });
  return [...repayment, builtCall(proxy, data, 0n, 'execute', { withdrawCollateral: collateral, receiver: user })];
}

import { erc20Abi } from '../../abi/erc20.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltCall, PayToken } from '../types.ts';
import { contractCall } from './call.ts';

export interface ApprovalInput {
  readonly token: PayToken;
  readonly spender: Address;
  /** The amount that the spender will take, base units: the allowance becomes exactly this. */
  readonly amount: bigint;
  /** Allowance that the spender has now. */
  readonly allowance: bigint;
}

/** Approve exactly the amount; nothing when the allowance suffices, nothing for the native token. */
export function buildApprovals({ token, spender, amount, allowance }: ApprovalInput): readonly BuiltCall<'approve'>[] {
  if (token.isNative || allowance >= amount) return [];
  const approve = (value: bigint) =>
    contractCall(
      token.address,
      { abi: erc20Abi, functionName: 'approve', args: [spender, value] },
      { token: token.address, spender, amount: value },
    );
  return token.resetsApproval && allowance > 0n ? [approve(0n), approve(amount)] : [approve(amount)];
}

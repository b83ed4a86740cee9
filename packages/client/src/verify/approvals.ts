import type { Address } from 'viem';
import { erc20Abi } from '../abi/index.ts';
import { decodeExactly, methodsOf } from './calldata.ts';
import { VerificationError } from './errors.ts';
import type { ReadCall } from './plan.ts';
import { amountOf, differs, isNative, type Proof, requireSameAddress, requireValue, shown } from './proof.ts';

const APPROVE = methodsOf(erc20Abi, ['approve']);
const [APPROVE_SELECTOR] = APPROVE.keys();

/** Take the approvals before a call. They are proven with `proveApprovals`, once the call's amount is known. */
export function takeApprovals({ left }: Proof): readonly ReadCall[] {
  const count = left.findIndex(({ data }) => data.slice(0, 10) !== APPROVE_SELECTOR);
  return left.splice(0, count < 0 ? left.length : count);
}

interface Allowance {
  readonly token: string;
  readonly spender: Address;
  /** Amount that the call takes, base units. */
  readonly amount: bigint;
  /** The call that takes it. */
  readonly callIndex: number;
  /** Whether the call may take less, so that a rest stays allowed. */
  readonly leavesRest?: boolean;
}

/**
 * Prove that approvals allow the spender exactly what its call takes: none where the wallet has approved before, one, or a
 * reset to zero and one. @throws VerificationError
 */
export function proveApprovals(proof: Proof, approvals: readonly ReadCall[], allowance: Allowance): void {
  const { token, spender, amount, callIndex, leavesRest } = allowance;
  const [first] = approvals;
  if (!first) {
    if (isNative(token)) return;
    const needed = amountOf(proof, token, amount).text;
    proof.assumptions.push(`The wallet has approved ${needed} to ${shown(spender)} before: this plan does not.`);
    return;
  }
  if (isNative(token) || approvals.length > 2) {
    throw new VerificationError('approval', 'the payment needs no such approval.', first.index);
  }
  const expected = approvals.length === 2 ? [0n, amount] : [amount];
  for (const [i, call] of approvals.entries()) {
    requireSameAddress(call.index, 'approval', 'it approves the token', call.to, token);
    requireValue(call, 0n, proof.chain);
    const [to, approved] = decodeExactly(APPROVE, call.data, call.index).args;
    requireSameAddress(call.index, 'approval', 'it approves', to, spender);
    const text = (units: bigint) => amountOf(proof, token, units).text;
    if (approved !== expected[i]) {
      throw differs(call.index, 'approval', 'it approves', text(approved), text(expected[i] ?? 0n));
    }
  }
  const given = amountOf(proof, token, amount);
  const allowed = { kind: 'allowance', spender: shown(spender), amount: given } as const;
  if (leavesRest) {
    proof.authorizes.push(allowed);
    proof.sentences.push(
      `Allows ${shown(spender)} to take at most ${given.text}; the part that call ${callIndex + 1} does not take stays allowed.`,
    );
    return;
  }
  proof.authorizes.push({ ...allowed, until: { callIndex } });
  proof.sentences.push(`Allows ${shown(spender)} to take exactly ${given.text}, which call ${callIndex + 1} does.`);
}

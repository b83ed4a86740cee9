import type { Plan } from '../client.ts';
import { MULTI_SEND_CALL_ONLY, type SafeOptions, type SafeTransaction, transactionOf } from '../safe/safe.ts';
import { checkBalances, checkChain, checkCode, isExpired, refuseExpired } from './checks.ts';
import { checkGivenRequest } from './given-request.ts';
import { checkPlan } from './plan.ts';
import { type PlanProof, type ProofOptions, provePlan } from './proof.ts';
import { createRpc, type Eip1193Provider } from './wallet.ts';

export interface SafeProposal extends SafeTransaction {
  /** The proven effects of the plan; `undefined` = no proof was asked for. */
  readonly proof: PlanProof | undefined;
}

/**
 * Prove a plan of a Safe, check it against the chain (its id, the code at every address, the balances of the Safe) and hand
 * out the transaction for its owners to sign. Nothing is sent.
 *
 * @throws ExecutionError | InputError; ExpiredError for quotes that have lapsed by the clock of this machine or of the chain:
 *   build the plan again, e.g. with `client.rebuild`
 */
export async function proposeToSafe(
  plan: Plan,
  node: Eip1193Provider,
  options: SafeOptions & { readonly proof?: ProofOptions | 'none' | undefined },
): Promise<SafeProposal> {
  const { proof: how = {} } = options;
  const checked = checkPlan(plan);
  checkGivenRequest(checked.content, how, options.safe);
  const { operation } = transactionOf(checked, options);
  const reader = createRpc(node);
  await checkChain(checked.chainId, reader, reader);
  const { now = Date.now, createdAt = 0 } = options;
  const expiry = { now: () => Math.max(now(), createdAt), minValidityMs: 0 };
  if (await isExpired(checked, reader, expiry)) refuseExpired(checked);
  const multiSend = operation === 1 ? [{ to: options.multiSend ?? MULTI_SEND_CALL_ONLY }] : [];
  await checkCode([...checked.calls, { to: options.safe }, ...multiSend], reader);
  const proof =
    how === 'none'
      ? undefined
      : await provePlan(checked.content, options.safe, { rpc: reader, isOfWallet: false }, how);
  const action = proof?.action ?? checked.action;
  await checkBalances(checked, options.safe, reader, action);
  return { ...transactionOf({ ...checked, action }, options), proof };
}

import type { Plan } from '../client.ts';
import { MULTI_SEND_CALL_ONLY, type SafeOptions, type SafeTransaction, safeTransaction } from '../safe/safe.ts';
import { checkBalances, checkChain, checkCode } from './checks.ts';
import { checkPlan } from './plan.ts';
import { createRpc, type Eip1193Provider } from './wallet.ts';

/**
 * Check a plan of a Safe against the chain (its id, the code at every address, the balances of the Safe) and hand out the
 * transaction for its owners to sign. Nothing is sent.
 *
 * @throws ExecutionError | InputError
 */
export async function proposeToSafe(plan: Plan, node: Eip1193Provider, options: SafeOptions): Promise<SafeTransaction> {
  const transaction = safeTransaction(plan, options);
  const reader = createRpc(node);
  const checked = checkPlan(plan);
  await checkChain(checked.chainId, reader, reader);
  const multiSend = transaction.operation === 1 ? [{ to: options.multiSend ?? MULTI_SEND_CALL_ONLY }] : [];
  await checkCode([...checked.calls, { to: options.safe }, ...multiSend], reader);
  await checkBalances(checked, options.safe, reader);
  return transaction;
}

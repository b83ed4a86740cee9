import { morphoBlueAbi } from '../abi/index.ts';
import { selectorsOf } from '../verify/calldata.ts';
import { runAfter } from '../wait.ts';
import { authorizationOf, type CheckedPlan } from './plan.ts';
import { type SequenceContext, sendOne } from './transaction.ts';
import type { PlanCall } from './wallet.ts';

/** The call that takes back the authorization of a plan; `undefined` = it has none. */
function revocationOf({ calls }: CheckedPlan): PlanCall | undefined {
  const last = calls.at(-1);
  return last !== undefined && authorizationOf(last) === 'revoke' ? last : undefined;
}

/** Whether a plan authorizes a manager, and revokes that in its last call. */
export function grants(plan: CheckedPlan): boolean {
  return revocationOf(plan) !== undefined && plan.calls.some((call) => authorizationOf(call) === 'grant');
}

/** The context of a part of an execution that outlives the signal of the caller. */
export function unaborted(context: SequenceContext, signal: AbortSignal): SequenceContext {
  const settings = { ...context.settings, receipts: { ...context.settings.receipts, signal } };
  return { ...context, ...context.connect(signal), settings };
}

/**
 * Send the last call of a plan, which revokes its authorization, also after the caller has aborted. From the moment that the
 * wallet is asked, it is waited for no longer than for a receipt.
 *
 * @returns whether it was mined
 */
export async function revoke(plan: CheckedPlan, context: SequenceContext): Promise<boolean> {
  const last = revocationOf(plan);
  if (last === undefined) return false;
  context.settings.report({ kind: 'revoking' });
  const limit = new AbortController();
  let cancel = () => {};
  const onAsked = () => {
    cancel = runAfter(context.settings.receipts.timeoutMs, () => limit.abort());
  };
  try {
    await sendOne(plan, plan.calls.length - 1, last, unaborted(context, limit.signal), { onAsked });
    return true;
  } catch {
    return false;
  } finally {
    cancel();
  }
}

const IS_AUTHORIZED = selectorsOf(morphoBlueAbi).get('isAuthorized') ?? '';

/**
 * Whether the authorization that a batch has granted is left: a wallet may execute a part of it only. `undefined` = the node
 * does not tell. It is asked also after the caller has aborted.
 */
export async function isAuthorizationLeft(
  plan: CheckedPlan,
  context: SequenceContext,
  limit: AbortSignal = new AbortController().signal,
): Promise<boolean | undefined> {
  const last = revocationOf(plan);
  if (last === undefined || !grants(plan)) return false;
  const { reader } = context.connect(limit);
  const authorizer = context.account.slice(2).toLowerCase().padStart(64, '0');
  const data = `${IS_AUTHORIZED}${authorizer}${last.data.slice(10, 74)}`;
  const left = await reader.readNumber('eth_call', [{ to: last.to, data }, 'latest']).catch(() => undefined);
  return left === undefined ? undefined : left !== 0n;
}

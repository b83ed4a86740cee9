import { morphoBlueAbi } from '../../abi/index.ts';
import { selectorsOf } from '../../verify/calldata.ts';
import { runAfter } from '../../wait.ts';
import type { Revocation } from '../errors.ts';
import { authorizationOf, type CheckedPlan } from '../plan.ts';
import { type SequenceContext, sendOne } from '../transaction.ts';
import type { PlanCall } from '../wallet.ts';

/** The caller who has aborted waits no longer for the one read that tells whether an authorization is left. */
export const READ_MS = 2000;

/** The call that takes back the authorization of a plan; `undefined` = it has none. */
function revocationOf({ calls }: CheckedPlan): PlanCall | undefined {
  const last = calls.at(-1);
  return last !== undefined && authorizationOf(last) === 'revoke' ? last : undefined;
}

/** Whether a plan authorizes a manager, and revokes that in its last call. */
export function grants(plan: CheckedPlan): boolean {
  return revocationOf(plan) !== undefined && plan.calls.some((call) => authorizationOf(call) === 'grant');
}

/** The call that revokes the authorization of a plan, for a caller who follows the execution himself. */
function handedOut(plan: CheckedPlan, { account }: SequenceContext): Revocation | undefined {
  const last = revocationOf(plan);
  if (last === undefined || !grants(plan)) return undefined;
  const { to, data } = last;
  return { chainId: plan.chainId, call: { from: account, to, data }, check: { to, data: checkOf(last, account) } };
}

/**
 * Record on an execution, and on its failure, whether the authorization of the plan is revoked, and the call that revokes it
 * where it may be left.
 */
export function recordRevocation(
  plan: CheckedPlan,
  context: SequenceContext,
  isRevoked: boolean | undefined,
  { error, mayBeLeft = isRevoked === false }: { readonly error?: unknown; readonly mayBeLeft?: boolean } = {},
): void {
  if (isRevoked !== undefined) context.isRevoked = isRevoked;
  context.revocation = mayBeLeft ? handedOut(plan, context) : undefined;
  // The reason of a signal may be anything.
  if (typeof error !== 'object' || error === null) return;
  if (isRevoked !== undefined) Reflect.set(error, 'isRevoked', isRevoked);
  if (context.revocation !== undefined) Reflect.set(error, 'revocation', context.revocation);
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

/** The read of the authorization that a call revokes. */
function checkOf({ data }: PlanCall, account: string): string {
  return `${IS_AUTHORIZED}${account.slice(2).toLowerCase().padStart(64, '0')}${data.slice(10, 74)}`;
}

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
  const data = checkOf(last, context.account);
  const left = await reader.readNumber('eth_call', [{ to: last.to, data }, 'latest']).catch(() => undefined);
  return left === undefined ? undefined : left !== 0n;
}

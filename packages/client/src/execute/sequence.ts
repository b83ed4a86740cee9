import { isExpired } from './checks.ts';
import { RejectedError } from './errors.ts';
import { isAuthorizationLeft, READ_MS, recordRevocation, revoke, unaborted } from './grants/revocation.ts';
import { authorizationOf, type CheckedPlan, isPreparation } from './plan.ts';
import { type SendListeners, type SequenceContext, sendOne } from './transaction.ts';

/**
 * Send the calls of a plan one after the other, each mined before the next. When a call fails, or the quotes expire, after
 * a manager was authorized, the last call, which revokes that, is sent before the failure is reported.
 *
 * @returns `expired` when the quotes lapsed before their call
 * @throws ExecutionError with `isRevoked` where an authorization was granted
 */
export async function sendInOrder(plan: CheckedPlan, context: SequenceContext): Promise<'done' | 'expired'> {
  let isGranted = false;
  let isRevoking = false;
  let firstRevocation: Promise<boolean> | undefined;
  const revokeNow = () => {
    firstRevocation = revoke(plan, context);
    return firstRevocation;
  };
  // The grant did not exist when the revocation was tried.
  const onLateGrant: SendListeners['onLate'] = async (mined) => {
    const limit = new AbortController();
    try {
      await mined(unaborted(context, limit.signal));
      if (!(await firstRevocation)) await revoke(plan, context);
    } catch {}
  };
  try {
    for (const [index, call] of plan.calls.entries()) {
      context.settings.options.signal?.throwIfAborted();
      const isQuoted = !isPreparation(call) || authorizationOf(call) === 'grant';
      if (isQuoted && (await isExpired(plan, context.reader, context.settings.expiry))) {
        if (isGranted) recordRevocation(plan, context, await revokeNow());
        return 'expired';
      }
      // From the moment that the wallet is asked: a receipt that never comes does not say that it was not mined.
      const onAsked = () => {
        if (authorizationOf(call) === 'grant') isGranted = true;
        if (index === plan.calls.length - 1) isRevoking = isGranted && authorizationOf(call) === 'revoke';
      };
      const onLate = authorizationOf(call) === 'grant' ? onLateGrant : undefined;
      await sendOne(plan, index, call, context, { onAsked, onLate }).catch((error: unknown) => {
        if (authorizationOf(call) === 'grant' && error instanceof RejectedError) isGranted = false;
        throw error;
      });
      if (!isPreparation(call)) context.executed.push(call);
    }
    return 'done';
  } catch (error) {
    if (isGranted) {
      // The user is not asked twice for the same revocation.
      const limit = AbortSignal.timeout(READ_MS);
      const isRevoked = isRevoking ? (await isAuthorizationLeft(plan, context, limit)) === false : await revokeNow();
      recordRevocation(plan, context, isRevoked, { error });
    }
    throw error;
  }
}

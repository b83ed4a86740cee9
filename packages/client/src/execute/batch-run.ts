import { NoBatchIdError, receiptOfBatch, sendBatch, waitForBatch } from './batch.ts';
import { checkSigner, isExpired } from './checks.ts';
import { ExecutionError, InvalidPlanError, ReceiptTimeoutError, RejectedError, WalletError } from './errors.ts';
import { grants, isAuthorizationLeft, READ_MS, recordRevocation, revoke, unaborted } from './grants/revocation.ts';
import type { CheckedPlan } from './plan.ts';
import type { SequenceContext } from './transaction.ts';

interface SentBatch {
  readonly id: string;
  /** Newest block before it was sent. */
  readonly block: bigint;
}

/**
 * The longest time for which a batch is followed that is still pending after the caller has aborted; a longer
 * `receiptTimeoutMs` does not extend it.
 */
const FOLLOWED_MS = 600_000;

/**
 * Send all calls of a plan as one batch and wait until it is mined. A wallet may execute a part of it: an authorization that is
 * left is revoked by a transaction of its own, also after a failure, and after the caller has aborted.
 *
 * @returns `expired` when the quotes lapsed before
 * @throws ExecutionError or the reason of the signal, with `isRevoked` where an authorization was left
 */
export async function runBatch(plan: CheckedPlan, context: SequenceContext): Promise<'done' | 'expired'> {
  const { wallet, reader, account, settings, sent, asked } = context;
  const { signal } = settings.options;
  const [first] = plan.calls;
  if (first === undefined) throw new InvalidPlanError('The plan has no calls.');
  signal?.throwIfAborted();
  // The own check of the caller may have taken a while.
  if (await isExpired(plan, reader, settings.expiry)) return 'expired';
  const block = await reader.readNumber('eth_blockNumber');
  await checkSigner(plan.chainId, account, wallet);
  signal?.throwIfAborted();
  // Another plan, or the user, may have authorized the same contract: that is not this batch's to take back.
  const isGranted = (await isAuthorizationLeft(plan, context)) === true;
  signal?.throwIfAborted();
  settings.report({ kind: 'signing', index: 0, total: plan.calls.length, to: first.to });
  signal?.throwIfAborted();
  asked.push(...plan.calls.map((call) => ({ call, isMined: false })));
  let batch: SentBatch | undefined;
  try {
    await sendBatch(wallet, account, plan, (id) => {
      sent.push(id);
      settings.report({ kind: 'batch_sent', id });
      batch = { id, block };
      if (signal?.aborted && !isGranted) void followLate(plan, batch, context);
    });
    if (batch !== undefined) await mine(plan, batch, context);
  } catch (error) {
    if (batch === undefined && error instanceof RejectedError) asked.length = 0;
    if (isGranted) throw error;
    // A batch whose prompt was left open is followed from the moment that the wallet answers.
    const isOpen = batch === undefined && signal?.aborted === true;
    const isRevoked = isOpen ? undefined : await takenBack(plan, context, error, batch !== undefined);
    if (batch !== undefined && isRevoked === undefined && signal?.aborted) void followLate(plan, batch, context);
    const isPending = error instanceof ExecutionError ? error instanceof ReceiptTimeoutError : signal?.aborted === true;
    recordRevocation(plan, context, isRevoked, { error, mayBeLeft: isPending || isRevoked === false });
    throw error;
  }
  // A node that does not tell is no reason to doubt a batch that was mined.
  if ((await isAuthorizationLeft(plan, context)) !== true) return 'done';
  recordRevocation(plan, context, await revoke(plan, context));
  if (context.isRevoked) return 'done';
  throw new WalletError('The wallet left the authorization of the batch, and it is not revoked: revoke it yourself.');
}

async function mine(
  plan: CheckedPlan,
  { id, block }: SentBatch,
  { wallet, reader, settings, mined }: Pick<SequenceContext, 'wallet' | 'reader' | 'settings' | 'mined'>,
): Promise<void> {
  const batch = { id, chainId: plan.chainId, calls: plan.calls.length };
  const hash = await waitForBatch(wallet, batch, settings.receipts);
  mined.push(await receiptOfBatch(reader, { hash, block }, settings.receipts));
  settings.report({ kind: 'mined', hash, index: plan.calls.length - 1 });
}

/**
 * Revoke the authorization that a failed batch has left. One that the node does not tell about counts as left; while the batch
 * may still be mined as a whole, and revoke it by itself, no transaction is sent for that.
 *
 * @returns whether it is revoked; `undefined` = none is left
 */
async function takenBack(
  plan: CheckedPlan,
  context: SequenceContext,
  error: unknown,
  isSent: boolean,
): Promise<boolean | undefined> {
  // Of a batch that the user refused nothing was executed.
  if (!isSent && error instanceof RejectedError) return undefined;
  const { signal } = context.settings.options;
  const left = await isAuthorizationLeft(plan, context, signal?.aborted ? AbortSignal.timeout(READ_MS) : undefined);
  const isOver = isSent && error instanceof ExecutionError && !(error instanceof ReceiptTimeoutError);
  if (left === true || (left === undefined && isOver)) return revoke(plan, context);
  return (left === undefined && isSent) || (error instanceof NoBatchIdError && grants(plan)) ? false : undefined;
}

/** Follow a batch that was signed, or is still pending, after the signal has aborted, for the authorization that it may leave. */
async function followLate(plan: CheckedPlan, batch: SentBatch, context: SequenceContext): Promise<void> {
  if (!grants(plan)) return;
  const late = unaborted(context, AbortSignal.timeout(FOLLOWED_MS));
  try {
    await mine(plan, batch, late);
    if ((await isAuthorizationLeft(plan, context)) === true) await revoke(plan, context);
  } catch (error) {
    await takenBack(plan, context, error, true);
  }
}

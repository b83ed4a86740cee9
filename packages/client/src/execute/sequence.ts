import { runAfter } from '../wait.ts';
import { checkSigner, isExpired } from './checks.ts';
import { RejectedError, WalletError, WouldRevertError } from './errors.ts';
import type { Settings } from './options.ts';
import { authorizationOf, type CheckedPlan, isPreparation } from './plan.ts';
import { type Receipt, waitForReceipt } from './receipts.ts';
import { hexOf, type PlanCall, type Rpc } from './wallet.ts';

export interface SequenceContext {
  readonly wallet: Rpc;
  readonly reader: Rpc;
  /** The same two with another signal. */
  readonly connect: (signal: AbortSignal) => { readonly wallet: Rpc; readonly reader: Rpc };
  readonly account: string;
  readonly settings: Settings;
  /** Hashes of everything that was sent, added as it happens. */
  readonly sent: string[];
  /** Receipts of everything that was mined, added as it happens. */
  readonly mined: Receipt[];
  /** The calls that were mined, but for approvals and authorizations, added as it happens. */
  readonly executed: PlanCall[];
  /** Whether the last authorization was revoked, of those that were taken back before the end of their plan. */
  isRevoked?: boolean;
}

/** Gas that an estimate has not seen: interest accrues until the call is mined. */
const withMargin = (gas: bigint) => (gas * 3n) / 2n;

/**
 * Send the calls of a plan one after the other, each mined before the next. When a call fails, or the quotes expire, after
 * a manager was authorized, the last call, which revokes that, is sent before the failure is reported.
 *
 * @returns `expired` when the quotes lapsed before their call
 * @throws ExecutionError with `isRevoked` where an authorization was granted
 */
export async function sendInOrder(plan: CheckedPlan, context: SequenceContext): Promise<'done' | 'expired'> {
  const last = plan.calls.at(-1);
  let isGranted = false;
  const revoke = async (): Promise<boolean> => {
    if (last === undefined || authorizationOf(last) !== 'revoke') return false;
    context.settings.report({ kind: 'revoking' });
    // It is waited for also after the caller has aborted, and not for ever once the wallet is asked.
    const limit = new AbortController();
    const { receipts } = context.settings;
    let cancel = () => {};
    const onAsked = () => {
      cancel = runAfter(receipts.timeoutMs, () => limit.abort());
    };
    const settings = { ...context.settings, receipts: { ...receipts, signal: limit.signal } };
    const ofLast = { ...context, ...context.connect(limit.signal), settings };
    try {
      await sendOne(plan, plan.calls.length - 1, last, ofLast, onAsked);
      return true;
    } catch {
      return false;
    } finally {
      cancel();
    }
  };
  try {
    for (const [index, call] of plan.calls.entries()) {
      context.settings.options.signal?.throwIfAborted();
      const isQuoted = !isPreparation(call) || authorizationOf(call) === 'grant';
      if (isQuoted && (await isExpired(plan, context.reader, context.settings.expiry))) {
        if (isGranted) context.isRevoked = await revoke();
        return 'expired';
      }
      // From the moment that the wallet is asked: a receipt that never comes does not say that it was not mined.
      const onAsked = () => {
        if (authorizationOf(call) === 'grant') isGranted = true;
        if (index === plan.calls.length - 1) isGranted = isGranted && authorizationOf(call) !== 'revoke';
      };
      await sendOne(plan, index, call, context, onAsked).catch((error: unknown) => {
        if (authorizationOf(call) === 'grant' && error instanceof RejectedError) isGranted = false;
        throw error;
      });
      if (!isPreparation(call)) context.executed.push(call);
    }
    return 'done';
  } catch (error) {
    if (isGranted) {
      context.isRevoked = await revoke();
      // The reason of a signal may be anything.
      if (typeof error === 'object' && error !== null) Reflect.set(error, 'isRevoked', context.isRevoked);
    }
    throw error;
  }
}

async function sendOne(
  plan: CheckedPlan,
  index: number,
  call: PlanCall,
  context: SequenceContext,
  onAsked: () => void = () => {},
): Promise<void> {
  const { wallet, reader, account, settings, sent, mined } = context;
  const { to, data, value } = call;
  const gas = await reader
    .readNumber('eth_estimateGas', [{ from: account, to, data, value: hexOf(value) }])
    .catch((error: unknown) => {
      reader.signal?.throwIfAborted();
      // Silence, and an answer that is no number, say nothing about the call.
      if (error instanceof WalletError && error.cause === undefined) throw error;
      throw new WouldRevertError(to, error);
    });
  const [nonce, block] = await Promise.all([
    reader.readNumber('eth_getTransactionCount', [account, 'pending']),
    reader.readNumber('eth_blockNumber'),
  ]);
  await checkSigner(plan.chainId, account, wallet);
  settings.receipts.signal?.throwIfAborted();
  settings.report({ kind: 'signing', index, total: plan.calls.length, to });
  onAsked();
  const onSent = (hash: string) => {
    sent.push(hash);
    settings.report({ kind: 'sent', hash, index });
  };
  const hash = await wallet.send(account, call, withMargin(gas), plan.chainId, onSent);
  onSent(hash);
  const receipt = await waitForReceipt(
    reader,
    { hash, from: account, call, nonce, block },
    {
      ...settings.receipts,
      onRepriced: (old, replacement) => {
        sent.push(replacement);
        settings.report({ kind: 'repriced', hash: old, replacement });
      },
    },
  );
  mined.push(receipt);
  settings.report({ kind: 'mined', hash: receipt.transactionHash, index });
}

import { checkSigner } from './checks.ts';
import { RejectedError, type Revocation, WalletError, WouldRevertError } from './errors.ts';
import type { Settings } from './options.ts';
import type { CheckedPlan } from './plan.ts';
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
  /** The calls that the wallet was asked to send and did not refuse, added as it happens. */
  readonly asked: AskedCall[];
  /** The calls that were mined, but for approvals and authorizations, added as it happens. */
  readonly executed: PlanCall[];
  /** Whether the last authorization was revoked, of those that were taken back before the end of their plan. */
  isRevoked?: boolean | undefined;
  /** The call that revokes the authorization that may be left. */
  revocation?: Revocation | undefined;
}

/** A call that was sent, or may have been. */
export interface AskedCall {
  readonly call: PlanCall;
  /** Whether a receipt of its own says so. */
  isMined: boolean;
}

export interface SendListeners {
  /** The wallet is asked now. */
  readonly onAsked?: () => void;
  /** The call was signed after the signal has aborted; `mined` waits for its receipt by another signal. */
  readonly onLate?: ((mined: (by: Pick<SequenceContext, 'reader' | 'settings'>) => Promise<void>) => void) | undefined;
}

/** Gas that an estimate has not seen: interest accrues until the call is mined. */
const withMargin = (gas: bigint) => (gas * 3n) / 2n;

/**
 * Estimate one call of a plan, have it signed and sent, and wait for its receipt.
 *
 * @throws ExecutionError, or the reason of the signal
 */
export async function sendOne(
  plan: CheckedPlan,
  index: number,
  call: PlanCall,
  context: SequenceContext,
  { onAsked, onLate }: SendListeners = {},
): Promise<void> {
  const { wallet, reader, account, settings, sent, mined, asked } = context;
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
  settings.report({ kind: 'signing', index, total: plan.calls.length, to });
  settings.receipts.signal?.throwIfAborted();
  onAsked?.();
  const own: AskedCall = { call, isMined: false };
  asked.push(own);
  const onSent = (hash: string) => {
    sent.push(hash);
    settings.report({ kind: 'sent', hash, index });
  };
  const mine = async (hash: string, { reader, settings }: Pick<SequenceContext, 'reader' | 'settings'>) => {
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
    own.isMined = true;
    settings.report({ kind: 'mined', hash: receipt.transactionHash, index });
  };
  const hash = await wallet
    .send(account, call, withMargin(gas), plan.chainId, (hash) => {
      onSent(hash);
      onLate?.((unaborted) => mine(hash, unaborted));
    })
    .catch((error: unknown) => {
      if (error instanceof RejectedError) asked.splice(asked.indexOf(own), 1);
      throw error;
    });
  onSent(hash);
  await mine(hash, context);
}

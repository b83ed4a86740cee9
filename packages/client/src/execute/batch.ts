import { isRecord } from '../json.ts';
import { type Batch, transactionOfBatch } from './batch-status.ts';
import { ReceiptTimeoutError, RejectedError, RevertedError, WalletError } from './errors.ts';
import type { CheckedPlan } from './plan.ts';
import { isConfirmed, limitOf, type Receipt, type ReceiptOptions, readReceipt } from './receipts.ts';
import { hexOf, type Rpc } from './wallet.ts';

/** Whether a wallet runs batches atomically on a chain (EIP-5792), by its own word. */
export async function canBatch(wallet: Rpc, account: string, chainId: number): Promise<boolean> {
  const hex = hexOf(BigInt(chainId));
  const answer = await wallet.read('wallet_getCapabilities', [account, [hex]]).catch(() => undefined);
  wallet.signal?.throwIfAborted();
  if (!isRecord(answer)) return false;
  const atomicOf = (chain: number) => {
    const isOf = (key: string) => /^0x[0-9a-f]{1,12}$/i.test(key) && Number(key) === chain;
    const capabilities = Object.entries(answer).find(([key]) => isOf(key))?.[1];
    return isRecord(capabilities) ? capabilities.atomic : undefined;
  };
  // Those under 0x0 are for all chains.
  const atomic = atomicOf(chainId) ?? atomicOf(0);
  return isRecord(atomic) && (atomic.status === 'supported' || atomic.status === 'ready');
}

/** A batch that the wallet may execute, and that cannot be followed. */
export class NoBatchIdError extends WalletError {
  constructor() {
    super('The wallet took the batch and gave no id: look at the account before you go on.');
  }
}

/**
 * Send all calls of a plan as one request. `onSent` gets the id of the batch, also when the user has signed after the signal
 * has aborted.
 *
 * @throws RejectedError | WalletError
 */
export async function sendBatch(
  wallet: Rpc,
  account: string,
  { chainId, calls }: CheckedPlan,
  onSent: (id: string) => void,
): Promise<string> {
  const batch = {
    version: '2.0.0',
    chainId: hexOf(BigInt(chainId)),
    from: account,
    atomicRequired: true,
    calls: calls.map(({ to, data, value }) => (value === 0n ? { to, data } : { to, data, value: hexOf(value) })),
  };
  const idOf = (answer: unknown) => {
    const id = isRecord(answer) ? answer.id : answer;
    if (typeof id !== 'string' || id === '') return undefined;
    onSent(id);
    return id;
  };
  const id = idOf(await wallet.request('wallet_sendCalls', [batch], idOf));
  if (id !== undefined) return id;
  throw new NoBatchIdError();
}

/**
 * Wait until a batch is mined. Gives the hash of its transaction.
 *
 * @throws RevertedError | ReceiptTimeoutError | WalletError | WrongChainError
 */
export async function waitForBatch(
  wallet: Rpc,
  batch: Batch,
  { timeoutMs, pollMs, wait, signal }: ReceiptOptions,
): Promise<string> {
  const isInTime = limitOf({ timeoutMs });
  for (let waitedMs = 0; isInTime(waitedMs); waitedMs += pollMs) {
    // A request that fails says nothing about the batch.
    const answer = await wallet.read('wallet_getCallsStatus', [batch.id]).then(
      (said) => ({ said }),
      (error: unknown) => {
        // A wallet that lost the batch would be asked for ever.
        if (error instanceof RejectedError) throw error;
      },
    );
    const hash = answer === undefined ? undefined : transactionOfBatch(batch, answer.said);
    if (hash !== undefined) return hash;
    await wait(pollMs, signal);
  }
  throw new ReceiptTimeoutError(batch.id, timeoutMs, true);
}

/**
 * Wait for the receipt and the confirmations of a transaction that the wallet names for its batch.
 *
 * @throws RevertedError | ReceiptTimeoutError; WalletError for a transaction from before the batch, or one that the node
 *   does not have
 */
export async function receiptOfBatch(
  reader: Rpc,
  { hash, block }: { readonly hash: string; readonly block: bigint },
  options: ReceiptOptions,
): Promise<Receipt> {
  const isInTime = limitOf(options);
  let receipt: Receipt | null = null;
  for (let waitedMs = 0; isInTime(waitedMs); waitedMs += options.pollMs) {
    // The node may be behind that of the wallet.
    receipt = await readReceipt(reader, hash).catch(() => null);
    if (receipt !== null && receipt.blockNumber <= block) {
      throw new WalletError(`The wallet names ${hash} for its batch, which was mined before the batch was sent.`);
    }
    if (receipt !== null && (await isConfirmed(reader, receipt, options))) {
      if (receipt.isSuccess) return receipt;
      throw new RevertedError(hash);
    }
    await options.wait(options.pollMs, options.signal);
  }
  if (receipt !== null) throw new ReceiptTimeoutError(hash, options.timeoutMs);
  throw new WalletError(`The wallet names ${hash} for its batch, which the node does not have: look at the account.`);
}

import { isRecord } from '../json.ts';
import { ReceiptTimeoutError, RejectedError, RevertedError, WalletError, WrongChainError } from './errors.ts';
import type { CheckedPlan } from './plan.ts';
import { isConfirmed, limitOf, type Receipt, type ReceiptOptions, readReceipt } from './receipts.ts';
import { hexOf, type Rpc } from './wallet.ts';

/** Whether a wallet runs batches atomically on a chain (EIP-5792), by its own word. */
export async function canBatch(wallet: Rpc, account: string, chainId: number): Promise<boolean> {
  const hex = hexOf(BigInt(chainId));
  const answer = await wallet.read('wallet_getCapabilities', [account, [hex]]).catch(() => undefined);
  wallet.signal?.throwIfAborted();
  if (!isRecord(answer)) return false;
  const ofChain = Object.entries(answer).find(
    ([key]) => /^0x[0-9a-f]{1,12}$/i.test(key) && Number(key) === chainId,
  )?.[1];
  const atomic = isRecord(ofChain) ? ofChain.atomic : undefined;
  return isRecord(atomic) && (atomic.status === 'supported' || atomic.status === 'ready');
}

/** Send all calls of a plan as one request. Gives the id of the batch. @throws RejectedError | WalletError */
export async function sendBatch(wallet: Rpc, account: string, { chainId, calls }: CheckedPlan): Promise<string> {
  const answer = await wallet.request('wallet_sendCalls', [
    {
      version: '2.0.0',
      chainId: hexOf(BigInt(chainId)),
      from: account,
      atomicRequired: true,
      calls: calls.map(({ to, data, value }) => (value === 0n ? { to, data } : { to, data, value: hexOf(value) })),
    },
  ]);
  const id = isRecord(answer) ? answer.id : answer;
  if (typeof id === 'string' && id !== '') return id;
  throw new WalletError('The wallet took the batch and gave no id: look at the account before you go on.');
}

/**
 * Wait until a batch is mined. Gives the hashes of its transactions, each once.
 *
 * @throws RevertedError | ReceiptTimeoutError | WalletError | WrongChainError
 */
export async function waitForBatch(
  wallet: Rpc,
  { id, chainId }: { readonly id: string; readonly chainId: number },
  { timeoutMs, pollMs, wait, signal }: ReceiptOptions,
): Promise<readonly string[]> {
  const isInTime = limitOf({ timeoutMs });
  for (let waitedMs = 0; isInTime(waitedMs); waitedMs += pollMs) {
    const answer = await wallet.read('wallet_getCallsStatus', [id]).catch((error: unknown) => {
      // A wallet that lost the batch would be asked for ever.
      if (error instanceof RejectedError) throw error;
      return undefined;
    });
    const { status, receipts, atomic, ...of } = isRecord(answer) ? answer : {};
    if (typeof of.id === 'string' && of.id !== id) {
      throw new WalletError(`The wallet was asked for the batch ${id}, and answered for ${of.id}.`);
    }
    if (/^0x[0-9a-f]{1,12}$/i.test(String(of.chainId)) && Number(of.chainId) !== chainId) {
      throw new WrongChainError(chainId, `The wallet ran the batch ${id} on chain ${Number(of.chainId)}.`);
    }
    requireStatus(id, { status, atomic });
    const named = (Array.isArray(receipts) ? receipts : [])
      .map((receipt) => (isRecord(receipt) ? receipt.transactionHash : undefined))
      .filter((hash) => typeof hash === 'string');
    const hashes = [...new Set(named.map((hash) => hash.toLowerCase()))];
    if (typeof status === 'number' && status >= 200) {
      if (status < 300 && atomic !== false) return hashes;
      if (status >= 400 && status < 500) throw new WalletError(`The wallet did not send the batch ${id}.`);
      throw new RevertedError(hashes.at(-1), status >= 600 || atomic === false);
    }
    await wait(pollMs, signal);
    signal?.throwIfAborted();
  }
  throw new ReceiptTimeoutError(id, timeoutMs);
}

/** Absent ones say nothing yet. @throws WalletError for an answer that does not follow EIP-5792 */
function requireStatus(id: string, { status, atomic }: { readonly status: unknown; readonly atomic: unknown }): void {
  const isStatus = status === undefined || (Number.isInteger(status) && STATUS.test(String(status)));
  if (isStatus && (atomic === undefined || typeof atomic === 'boolean')) return;
  const [name, value] = isStatus ? ['atomic', atomic] : ['status', status];
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value);
  throw new WalletError(`The wallet answered ${name} ${text} for the batch ${id}: look at the account.`);
}

/** Pending, done, not sent, reverted, and reverted in part. */
const STATUS = /^[12456]\d\d$/;

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
    if (receipt !== null && receipt.blockNumber < block) {
      throw new WalletError(`The wallet names ${hash} for its batch, which was mined before the batch was sent.`);
    }
    if (receipt !== null && (await isConfirmed(reader, receipt, options))) {
      if (receipt.isSuccess) return receipt;
      throw new RevertedError(hash);
    }
    await options.wait(options.pollMs, options.signal);
    options.signal?.throwIfAborted();
  }
  if (receipt !== null) throw new ReceiptTimeoutError(hash, options.timeoutMs);
  throw new WalletError(`The wallet names ${hash} for its batch, which the node does not have: look at the account.`);
}

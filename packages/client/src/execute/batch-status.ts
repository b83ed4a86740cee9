import { isRecord } from '../json.ts';
import { RevertedError, WalletError, WrongChainError } from './errors.ts';

/** Pending, done, not sent, reverted, and reverted in part. */
const STATUS = /^[12456]\d\d$/;
const CHAIN_ID = /^0x[0-9a-f]{1,12}$/i;
const HASH = /^0x[0-9a-fA-F]{64}$/;

/** The batch that is asked for. */
export interface Batch {
  readonly id: string;
  readonly chainId: number;
  /** The number of its calls. */
  readonly calls: number;
}

/**
 * Read an answer of `wallet_getCallsStatus` as EIP-5792 has it: `id`, `chainId`, `status` and `atomic` are in every answer, and
 * an atomic batch has one receipt. Its `version` says nothing that is needed. Some wallets leave out `atomic` until a batch is
 * done, and only of a done one it has to be known.
 *
 * @returns the hash of the transaction; `undefined` = pending
 * @throws RevertedError; WrongChainError; WalletError for a batch that was not sent, and for an answer that the standard does not allow
 */
export function transactionOfBatch({ id, chainId, calls }: Batch, answer: unknown): string | undefined {
  const absurd = (what: string) =>
    new WalletError(
      `The wallet answered ${what} for the batch ${id}, which EIP-5792 does not allow: look at the account.`,
    );
  if (!isRecord(answer) || Array.isArray(answer)) throw absurd(quoted(answer));
  const { status, atomic, receipts } = answer;
  if (typeof answer.id !== 'string') throw absurd(named('id', answer.id));
  if (answer.id !== id) {
    throw new WalletError(`The wallet was asked for the batch ${id}, and answered for ${answer.id.slice(0, 140)}.`);
  }
  if (typeof answer.chainId !== 'string' || !CHAIN_ID.test(answer.chainId)) {
    throw absurd(named('chainId', answer.chainId));
  }
  if (Number(answer.chainId) !== chainId) {
    throw new WrongChainError(chainId, `The wallet ran the batch ${id} on chain ${Number(answer.chainId)}.`);
  }
  if (typeof status !== 'number' || !STATUS.test(String(status))) throw absurd(named('status', status));
  const isDone = status >= 200 && status < 300;
  const isLeftOut = atomic === undefined || atomic === null;
  if (typeof atomic !== 'boolean' && (isDone || !isLeftOut)) throw absurd(named('atomic', atomic));
  if (status < 200) return undefined;
  if (status >= 400 && status < 500) throw new WalletError(`The wallet did not send the batch ${id}.`);
  if (status >= 500) throw new RevertedError(lastHashIn(receipts), status >= 600);
  // Of one call it says nothing. All calls of a done batch were executed, so that none of them is called reverted.
  if (!atomic && calls > 1) throw absurd('that it did not run atomically, which was required,');
  if (!Array.isArray(receipts)) throw absurd(named('receipts', receipts));
  const hashes = new Set(receipts.map((receipt) => hashOf(receipt, absurd)));
  const [hash] = hashes;
  if (hash === undefined || hashes.size > 1) throw absurd(`${hashes.size} transactions, and one was expected,`);
  return hash;
}

function hashOf(receipt: unknown, absurd: (what: string) => WalletError): string {
  const { transactionHash, status } = isRecord(receipt) ? receipt : {};
  if (typeof transactionHash !== 'string' || !HASH.test(transactionHash)) throw absurd('a receipt with no hash');
  // Some wallets leave it out; the receipt of the node decides.
  if (status !== undefined && status !== '0x1') throw absurd(`a receipt with ${named('status', status)}`);
  return transactionHash.toLowerCase();
}

/** For the message of a failure: it is not relied on. */
function lastHashIn(receipts: unknown): string | undefined {
  const last: unknown = Array.isArray(receipts) ? receipts.at(-1) : undefined;
  return isRecord(last) && typeof last.transactionHash === 'string' ? last.transactionHash.slice(0, 66) : undefined;
}

const named = (name: string, value: unknown): string =>
  value === undefined || (typeof value === 'object' && value !== null) ? `no ${name}` : `${name} ${quoted(value)}`;

function quoted(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value);
}

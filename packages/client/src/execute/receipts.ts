import { flashLeverageAbi } from '../abi/index.ts';
import { isRecord } from '../json.ts';
import { selectorsOf } from '../verify/calldata.ts';
import type { Wait } from '../wait.ts';
import { ReceiptTimeoutError, ReplacedError, RevertedError, WalletError, WouldRevertError } from './errors.ts';
import { hexOf, type PlanCall, type Rpc } from './wallet.ts';

export interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export interface Receipt {
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  /** The account that sent the transaction and paid for its gas, lower case; `undefined` = the node does not tell. */
  readonly from: string | undefined;
  readonly isSuccess: boolean;
  /** Wei; `undefined` = the node does not tell. */
  readonly gasPaid: bigint | undefined;
  readonly logs: readonly Log[];
}

export interface ReceiptOptions {
  readonly confirmations: number;
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly wait: Wait;
  readonly signal?: AbortSignal | undefined;
  /** The same call was mined under another hash, because the user raised its fee. */
  readonly onRepriced?: (hash: string, replacement: string) => void;
}

export interface SentTransaction {
  readonly hash: string;
  readonly from: string;
  readonly call: PlanCall;
  /** Nonce that the account had before it was sent. */
  readonly nonce: bigint;
  /** Newest block before it was sent. */
  readonly block: bigint;
}

/** Blocks that are searched for a replacement. */
const MAX_SEARCHED = 256n;
/** Reads in a row that find the nonce used and no transaction: nodes behind one address are not at the same block. */
const MAX_MISSED = 5;

/**
 * Wait for the receipt of a transaction and its confirmations.
 *
 * @throws RevertedError | ReplacedError | ReceiptTimeoutError, or the reason of the signal; WalletError when the hash is of
 *   another transaction
 */
export async function waitForReceipt(rpc: Rpc, sent: SentTransaction, options: ReceiptOptions): Promise<Receipt> {
  let { hash } = sent;
  let known: { readonly from: string; readonly nonce: bigint | undefined } | undefined;
  let missed = 0;
  const isInTime = limitOf(options);
  for (let waitedMs = 0; isInTime(waitedMs); waitedMs += options.pollMs) {
    // A node that fails for a while says nothing about the transaction.
    const receipt = await readReceipt(rpc, hash).catch(() => null);
    if (receipt !== null) {
      if ((await isConfirmed(rpc, receipt, options)) && (await isOfCall(rpc, receipt, sent))) {
        if (receipt.isSuccess) return receipt;
        throw new RevertedError(hash);
      }
    } else {
      known ??= await senderOf(rpc, hash).catch(() => undefined);
      const nonce = known?.nonce ?? sent.nonce;
      // The nonces of the account say nothing about a transaction that another one sends for it.
      const isOwn = known === undefined || isEqual(known.from, sent.from);
      const used = await rpc.readNumber('eth_getTransactionCount', [sent.from, 'latest']).catch(() => 0n);
      if (isOwn && used > nonce && (await readReceipt(rpc, hash).catch(() => null)) === null) {
        const found = await findReplacement(rpc, sent, nonce).catch(() => undefined);
        missed += 1;
        if (found?.isSame) {
          if (found.hash !== hash) options.onRepriced?.(hash, found.hash);
          hash = found.hash;
          missed = 0;
        } else if (found !== undefined || missed >= MAX_MISSED) {
          throw new ReplacedError(hash, found?.hash);
        }
      }
    }
    await options.wait(options.pollMs, options.signal);
  }
  throw new ReceiptTimeoutError(hash, options.timeoutMs);
}

/** Counts the pauses, and the time that slow reads take beside them. */
export function limitOf({ timeoutMs }: Pick<ReceiptOptions, 'timeoutMs'>): (waitedMs: number) => boolean {
  const startedMs = performance.now();
  return (waitedMs) => Math.max(waitedMs, performance.now() - startedMs) <= timeoutMs;
}

/** Whether a receipt has the requested confirmations. */
export async function isConfirmed(
  rpc: Rpc,
  { blockNumber }: Receipt,
  { confirmations }: Pick<ReceiptOptions, 'confirmations'>,
): Promise<boolean> {
  if (confirmations <= 1) return true;
  const newest = await rpc.readNumber('eth_blockNumber').catch(() => 0n);
  return newest >= blockNumber + BigInt(confirmations - 1);
}

/**
 * Whether a receipt is that of the call; `false` = the node does not tell yet. The transaction of a smart account may be sent
 * by another one, and wraps the call.
 *
 * @throws WalletError when the wallet gave the hash of another transaction
 */
async function isOfCall(rpc: Rpc, receipt: Receipt, { from, call, block }: SentTransaction): Promise<boolean> {
  const hash = receipt.transactionHash;
  const other = (why: string) =>
    new WalletError(`The wallet gave the hash ${hash}, which ${why}: look at the account.`);
  if (receipt.blockNumber <= block) throw other('was mined before the call was sent');
  const tx = await rpc.read('eth_getTransactionByHash', [hash]).catch(() => null);
  if (!isRecord(tx)) return false;
  if (isEqual(tx.from, from)) {
    if (isCall(tx, call)) return true;
    throw other('is another transaction of the account');
  }
  const code = await rpc.read('eth_getCode', [from, 'latest']).catch(() => undefined);
  if (typeof code !== 'string') return false;
  if (code === '0x') throw other(`is a transaction of ${String(tx.from)}`);
  return true;
}

/** `undefined` = the node does not have the transaction. */
async function senderOf(rpc: Rpc, hash: string) {
  const found = await rpc.read('eth_getTransactionByHash', [hash]);
  return isRecord(found) ? { from: String(found.from), nonce: numberIn(found.nonce) } : undefined;
}

async function findReplacement(
  rpc: Rpc,
  { from, call, block }: SentTransaction,
  nonce: bigint,
): Promise<{ readonly hash: string; readonly isSame: boolean } | undefined> {
  const newest = await rpc.readNumber('eth_blockNumber');
  const oldest = newest - block > MAX_SEARCHED ? newest - MAX_SEARCHED : block;
  for (let number = newest; number >= oldest && number >= 0n; number -= 1n) {
    const found = await rpc.read('eth_getBlockByNumber', [`0x${number.toString(16)}`, true]);
    const transactions = isRecord(found) && Array.isArray(found.transactions) ? found.transactions : [];
    for (const tx of transactions.filter(isRecord)) {
      if (!isEqual(tx.from, from) || numberIn(tx.nonce) !== nonce) continue;
      return { hash: String(tx.hash), isSame: isCall(tx, call) };
    }
  }
  return undefined;
}

const isCall = (tx: Readonly<Record<string, unknown>>, call: PlanCall) =>
  isEqual(tx.to, call.to) && isEqual(tx.input, call.data) && numberIn(tx.value) === call.value;
const isEqual = (a: unknown, b: string) => String(a).toLowerCase() === b.toLowerCase();
const numberIn = (value: unknown) =>
  typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;

/** `null` = not mined yet. @throws WalletError for an answer that cannot be its receipt */
export async function readReceipt(rpc: Rpc, hash: string): Promise<Receipt | null> {
  const found = await rpc.read('eth_getTransactionReceipt', [hash]);
  if (found === null || found === undefined) return null;
  const blockNumber = isRecord(found) ? numberIn(found.blockNumber) : undefined;
  const status = isRecord(found) ? numberIn(found.status) : undefined;
  if (!isRecord(found) || blockNumber === undefined || status === undefined || !isEqual(found.transactionHash, hash)) {
    throw new WalletError(`The node answered with something that is not the receipt of ${hash}.`);
  }
  const [gasUsed, gasPrice] = [numberIn(found.gasUsed), numberIn(found.effectiveGasPrice)];
  return {
    transactionHash: hash,
    blockNumber,
    from: typeof found.from === 'string' ? found.from.toLowerCase() : undefined,
    isSuccess: status === 1n,
    gasPaid: gasUsed === undefined || gasPrice === undefined ? undefined : gasUsed * gasPrice,
    logs: (Array.isArray(found.logs) ? found.logs : []).filter(isLog),
  };
}

function isLog(log: unknown): log is Log {
  return (
    isRecord(log) &&
    typeof log.address === 'string' &&
    /^0x([0-9a-fA-F]{2})*$/.test(String(log.data)) &&
    Array.isArray(log.topics) &&
    log.topics.every((topic) => /^0x[0-9a-fA-F]{64}$/.test(String(topic)))
  );
}

const DELEVERAGE = selectorsOf(flashLeverageAbi).get('deleverage') ?? '';
/** Selector of `FlashLeverage__PartialSwapNotAllowed()`. */
const PARTIAL_SWAP = '40f5eff9';
const MAX_DEPTH = 8;

/**
 * Whether a plan failed because somebody has added collateral to a position that it closes: the sale of all of it is more than its
 * quote. A receipt has no reason, so that the calls that were not executed are tried once more.
 */
export async function isBlocked(
  error: unknown,
  plan: { readonly calls: readonly PlanCall[] },
  by: { readonly reader: Rpc; readonly account: string; readonly executed: readonly PlanCall[] },
): Promise<boolean> {
  if (!(error instanceof RevertedError || error instanceof WouldRevertError)) return false;
  const { reader, account, executed } = by;
  const left = plan.calls.filter((call) => sellsAll(call) && !executed.includes(call));
  for (const { to, data, value } of left) {
    try {
      await reader.read('eth_call', [{ from: account, to, data, value: hexOf(value) }, 'latest']);
    } catch (failure) {
      if (isPartialSwap(failure)) return true;
    }
  }
  return false;
}

/** A close of all that is there: its amount is zero. */
const sellsAll = ({ data }: PlanCall) =>
  data.toLowerCase().startsWith(DELEVERAGE) && /^0{64}$/.test(data.slice(74, 138));

/** Nodes and libraries put the data of a revert in different places. */
function isPartialSwap(error: unknown, depth = 0): boolean {
  if (typeof error === 'string') return error.toLowerCase().includes(PARTIAL_SWAP);
  if (!(isRecord(error) || error instanceof Error) || depth > MAX_DEPTH) return false;
  const { data, message, details, cause } = error as Readonly<Record<string, unknown>>;
  return [data, message, details, cause].some((part) => isPartialSwap(part, depth + 1));
}

import {
  type Address,
  formatTransactionReceipt,
  type Hex,
  numberToHex,
  type RpcBlock,
  type RpcTransactionReceipt,
  type TransactionReceipt,
} from 'viem';

/** A transaction of an impersonated account. Quantities are hex. */
export interface SentTransaction {
  readonly from: Address;
  /** Absent: a contract is created. */
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: Hex;
  readonly gas?: Hex;
}

interface Client {
  request(parameters: never): Promise<unknown>;
}

/** Time after which a chain that mines at once has lost a transaction, or its answer. */
const OVERDUE_MS = 5_000;

/**
 * Send a transaction to a local chain. Resolves with its receipt when it is mined, also when it reverted.
 *
 * Anvil sometimes loses a transaction that follows the return to a snapshot: it is in no block and not in the pool, and its sender
 * would wait for an answer in vain. Such a transaction is sent again, with the nonce that it has in this case, so that it is never
 * mined twice.
 */
export async function sendMined(
  client: Client,
  transaction: SentTransaction,
  overdueMs: number = OVERDUE_MS,
): Promise<TransactionReceipt> {
  const ask = (method: string, ...params: unknown[]) => client.request({ method, params } as never);
  // One request: the chain answers once the transaction is mined.
  const answered = ask('eth_sendTransactionSync', transaction);
  const receipt = (await withinMs(answered, overdueMs)) ?? (await recover(ask, transaction, answered));
  return formatTransactionReceipt(receipt as RpcTransactionReceipt);
}

/** The receipt of a transaction that has not been answered: of the newest block, or of the same transaction sent again. */
async function recover(
  ask: (method: string, ...params: unknown[]) => Promise<unknown>,
  transaction: SentTransaction,
  answered: Promise<unknown>,
): Promise<unknown> {
  const { from, to, data = '0x' } = transaction;
  const nonce = await ask('eth_getTransactionCount', from, 'latest');
  const { transactions } = (await ask('eth_getBlockByNumber', 'latest', true)) as RpcBlock<'latest', true>;
  const mined = transactions.find(
    (one) =>
      one.from.toLowerCase() === from.toLowerCase() &&
      (one.to ?? undefined)?.toLowerCase() === to?.toLowerCase() &&
      one.input === data.toLowerCase() &&
      one.nonce === numberToHex(BigInt(String(nonce)) - 1n),
  );
  if (mined !== undefined) return ask('eth_getTransactionReceipt', mined.hash);
  const { pending } = (await ask('txpool_content')) as { pending: Record<string, unknown> };
  if (Object.keys(pending).some((sender) => sender.toLowerCase() === from.toLowerCase())) return answered;
  return ask('eth_sendTransactionSync', { ...transaction, nonce });
}

/** The answer, or `undefined` when it is not there in time. */
async function withinMs(answered: Promise<unknown>, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  // Its failure after that is of no interest: the connection of a lost transaction ends with an error.
  answered.catch(() => undefined);
  try {
    return await Promise.race([answered, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

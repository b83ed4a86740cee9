import {
  type Address,
  formatTransactionReceipt,
  type Hex,
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

/** Send a transaction to a local chain. Resolves with its receipt when it is mined, also when it reverted. */
export async function sendMined(
  client: { request(parameters: never): Promise<unknown> },
  transaction: SentTransaction,
): Promise<TransactionReceipt> {
  // One request: the chain answers once the transaction is mined.
  const receipt = await client.request({ method: 'eth_sendTransactionSync', params: [transaction] } as never);
  return formatTransactionReceipt(receipt as RpcTransactionReceipt);
}

import { setTimeout as wait } from 'node:timers/promises';
import { type Hex, type PublicActions, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem';

const POLL_MS = 20;
const GIVE_UP_MS = 60_000;

/**
 * Wait until a local chain has mined a transaction. viem's wait looks again at a new block. Where each
 * transaction makes its own block and the first look was too early, no other block follows.
 * @throws TransactionReceiptNotFoundError when it is not mined within a minute
 */
export async function minedReceipt(
  client: Pick<PublicActions, 'getTransactionReceipt'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  for (const endMs = Date.now() + GIVE_UP_MS; ; await wait(POLL_MS)) {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError) || Date.now() > endMs) throw error;
    }
  }
}

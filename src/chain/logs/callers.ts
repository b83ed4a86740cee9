import { getAddress } from 'viem';
import { z } from 'zod';
import type { RecordedLog } from '../../domain/history/types.ts';
import type { Address, Hex } from '../../shared/ids.ts';
import type { Reading } from '../reading.ts';
import { BlockMissingError, ChainReadError, toChainReadError } from '../rpc/errors.ts';
import type { ReadOptions } from '../types.ts';
import type { LogSources } from './filters.ts';

const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((text) => text.toLowerCase());
const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((text) => getAddress(text.toLowerCase()));
const transaction = z.object({ hash, blockHash: hash.nullable(), from: address, to: address.nullish() });

/**
 * Add the account that called the product's router to the events that anybody can pay for through it. The transfers alone do not
 * show who paid in a native token. One request for each such transaction.
 * @throws ChainReadError
 */
export async function withCallers(
  reading: Pick<Reading, 'client'>,
  logs: readonly RecordedLog[],
  sources: LogSources,
  options: ReadOptions,
): Promise<readonly RecordedLog[]> {
  const { flashLeverage, flashLeverageRouter: router } = sources;
  const routed = new Set(
    logs.flatMap(({ sender, receiver, txHash }) => (sender === router && receiver === flashLeverage ? [txHash] : [])),
  );
  const isPaid = ({ event, txHash }: RecordedLog) =>
    (event === 'CollateralSupplied' || event === 'LoanRepaid') && routed.has(txHash);
  const paid = new Map(logs.filter(isPaid).map((log) => [log.txHash, log] as const));
  const callers = new Map(
    await Promise.all(
      [...paid].map(async ([txHash, log]) => [txHash, await callerOf(reading, log, router, options)] as const),
    ),
  );
  return logs.map((log) => (isPaid(log) ? { ...log, sender: callers.get(log.txHash) ?? null } : log));
}

/** `null` = the transaction calls another contract than the router. */
async function callerOf(
  { client }: Pick<Reading, 'client'>,
  { txHash, blockHash }: { readonly txHash: Hex; readonly blockHash: Hex },
  router: Address,
  { signal }: ReadOptions,
): Promise<Address | null> {
  const answer: unknown = await client
    .request({ method: 'eth_getTransactionByHash', params: [txHash] }, signal ? { signal } : {})
    .catch((error: unknown) => {
      throw toChainReadError(error, signal);
    });
  if (answer === null) throw new BlockMissingError();
  const parsed = transaction.safeParse(answer);
  if (!parsed.success || parsed.data.hash !== txHash) throw new ChainReadError('malformed');
  if (parsed.data.blockHash !== blockHash) throw new BlockMissingError('implausible');
  return parsed.data.to === getAddress(router) ? parsed.data.from : null;
}

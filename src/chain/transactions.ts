import { z } from 'zod';
import type { Address, Hex } from '../shared/ids.ts';
import { hash, type NamedBlock, quantity, type Reading } from './reading.ts';
import { ChainReadError, toChainReadError } from './rpc/errors.ts';
import type { ChainNodes } from './rpc/nodes.ts';
import type { ReadOptions } from './types.ts';

/** Sender and nonce of a transaction: another one with the same can replace it. */
export interface TransactionSlot {
  readonly from: Address;
  readonly nonce: bigint;
}

/** The state of a transaction by a node. `replaced` = another transaction with its sender and nonce is in a block. */
export type TransactionState =
  | { readonly kind: 'included'; readonly blockNumber: bigint; readonly succeeded: boolean }
  | ({ readonly kind: 'pending' } & TransactionSlot)
  | { readonly kind: 'replaced' }
  | { readonly kind: 'unknown' };

/** A transaction to look up, and its slot where it was seen as pending before. */
export interface AskedTransaction {
  readonly hash: Hex;
  readonly slot?: TransactionSlot | undefined;
}

/** The newest block of a node, and the transactions as that node knows them. */
export interface HeadReading {
  readonly block: NamedBlock;
  readonly transactions: ReadonlyMap<Hex, TransactionState>;
}

/**
 * Read the newest block and the state of transactions from one node: one request, and up to two more for changed transactions.
 * @throws ChainReadError
 */
export type ReadHead = (asked: readonly AskedTransaction[], options?: ReadOptions) => Promise<HeadReading>;

const receipt = z
  .object({
    transactionHash: hash,
    blockHash: hash,
    blockNumber: quantity,
    status: z.enum(['0x0', '0x1']),
  })
  .nullable();
const transaction = z
  .object({
    hash,
    from: z.custom<Address>((value) => typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)),
    nonce: quantity,
  })
  .nullable();
const header = z.object({ hash }).nullable();

/** Create the reader of heads of one chain. */
export function createHeadReader(nodes: ChainNodes): ReadHead {
  return (asked, options = {}) =>
    nodes.read(async (reading) => {
      const states = await Promise.all(
        asked.map(async (one) => [one.hash, await stateOf(reading, one, options)] as const),
      );
      return { block: reading.block, transactions: new Map(states) };
    }, options);
}

/** @throws ChainReadError; `malformed` when an answer is of another transaction */
async function stateOf(reading: Reading, { hash: id, slot }: AskedTransaction, options: ReadOptions) {
  const [found, known] = await Promise.all([
    ask(reading, 'eth_getTransactionReceipt', [id], receipt, options),
    ask(reading, 'eth_getTransactionByHash', [id], transaction, options),
  ]);
  if (found && isOther(found.transactionHash, id)) throw new ChainReadError('malformed');
  if (known && isOther(known.hash, id)) throw new ChainReadError('malformed');
  const pending = known ? { from: known.from, nonce: known.nonce } : slot;
  if (found) {
    const { blockNumber } = found;
    const included = { kind: 'included', blockNumber, succeeded: found.status === '0x1' } as const;
    // The node that answered this request may be ahead of the one that named the newest block.
    if (blockNumber > reading.block.number) return included;
    const block = await ask(reading, 'eth_getBlockByNumber', [toHex(blockNumber), false], header, options);
    if (block && !isOther(block.hash, found.blockHash)) return included;
    // A reorganization has taken its block away.
    return pending ? ({ kind: 'pending', ...pending } as const) : UNKNOWN;
  }
  if (known) return { kind: 'pending', from: known.from, nonce: known.nonce } as const;
  if (!slot) return UNKNOWN;
  const used = await ask(reading, 'eth_getTransactionCount', [slot.from, reading.at], quantity, options);
  return used > slot.nonce ? ({ kind: 'replaced' } as const) : UNKNOWN;
}

const UNKNOWN = { kind: 'unknown' } as const;

/** @throws ChainReadError */
async function ask<T>(
  { client }: Reading,
  method: string,
  params: readonly unknown[],
  schema: z.ZodType<T>,
  { signal }: ReadOptions,
): Promise<T> {
  const answer: unknown = await client
    .request({ method, params } as never, signal ? { signal } : {})
    .catch((error: unknown) => {
      throw toChainReadError(error, signal);
    });
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new ChainReadError('malformed');
  return parsed.data;
}

function isOther(given: Hex, expected: Hex): boolean {
  return given.toLowerCase() !== expected.toLowerCase();
}

function toHex(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}

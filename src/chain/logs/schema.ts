import { z } from 'zod';
import type { Address, Hex } from '../../shared/ids.ts';
import { ChainReadError } from '../rpc/errors.ts';
import type { LogFilter } from './filters.ts';

/** A log as a node answers it, with its place checked. */
export interface NodeLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly txHash: Hex;
  readonly logIndex: number;
}

export interface BlockRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/** Logs of one answer. More are asked for in smaller ranges, so that the memory of a step is bounded. */
export const MAX_LOGS = 10_000;

const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((text) => text.toLowerCase() as Hex);
const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(BigInt);
const nodeLog = z.object({
  address: z.string().regex(/^0x[0-9a-f]{40}$/i),
  topics: z.array(hash).min(1).max(4),
  // The longest data of the events that are read is five words.
  data: z.string().regex(/^0x([0-9a-f]{64}){0,5}$/i),
  blockNumber: quantity,
  blockHash: hash,
  transactionHash: hash,
  logIndex: quantity.refine((index) => index < 1_000_000n),
  removed: z.literal(false).nullish(),
});

/**
 * Check the answer to a filter over a range of blocks: a list of logs of these blocks, of these contracts and topics, none of
 * them removed.
 * @throws ChainReadError `malformed` for an answer of another form, `implausible` for logs that were not asked for
 */
export function parseLogs(answer: unknown, filter: LogFilter, { fromBlock, toBlock }: BlockRange): readonly NodeLog[] {
  const parsed = z.array(nodeLog).max(MAX_LOGS).safeParse(answer);
  if (!parsed.success) throw new ChainReadError('malformed');
  const addresses = new Set(filter.addresses.map((address) => address.toLowerCase()));
  const alternatives = filter.topics.map((choice) => choice && new Set<string>(choice));
  return parsed.data.map(({ address, data, transactionHash, logIndex, removed: _removed, ...log }) => {
    const isOurs =
      addresses.has(address.toLowerCase()) &&
      log.blockNumber >= fromBlock &&
      log.blockNumber <= toBlock &&
      alternatives.every((choice, i) => choice === null || choice.has(log.topics[i] ?? ''));
    if (!isOurs) throw new ChainReadError('implausible');
    return {
      ...log,
      address: address.toLowerCase() as Address,
      data: data as Hex,
      txHash: transactionHash,
      logIndex: Number(logIndex),
    };
  });
}

/**
 * Join the answers to several filters. A log that several of them have, or that is repeated, counts once.
 * @throws ChainReadError `implausible` when two different logs have one place
 */
export function joinLogs(answers: readonly (readonly NodeLog[])[]): readonly NodeLog[] {
  const byPlace = new Map<string, NodeLog>();
  for (const log of answers.flat()) {
    const place = `${log.blockNumber}:${log.logIndex}`;
    const known = byPlace.get(place);
    if (known && textOf(known) !== textOf(log)) throw new ChainReadError('implausible');
    byPlace.set(place, log);
  }
  return [...byPlace.values()].sort((a, b) =>
    a.blockNumber === b.blockNumber ? a.logIndex - b.logIndex : a.blockNumber < b.blockNumber ? -1 : 1,
  );
}

function textOf({ address, topics, data, blockHash, txHash }: NodeLog): string {
  return [address, ...topics, data.toLowerCase(), blockHash, txHash].join();
}

import { numberToHex } from 'viem';
import type { RecordedLog } from '../../domain/history/types.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Address, Hex } from '../../shared/ids.ts';
import type { Reading } from '../reading.ts';
import { BlockMissingError } from '../rpc/errors.ts';
import type { ReadOptions } from '../types.ts';
import { withCallers } from './callers.ts';
import { decodeLog } from './decode-logs.ts';
import { type LogFilter, type LogSources, planLogFilters } from './filters.ts';
import { type BlockHeader, readHeader } from './headers.ts';
import { isTooMany, RangeRefusedError, toLogsError } from './refusal.ts';
import { type BlockRange, joinLogs, type NodeLog, parseLogs } from './schema.ts';

export interface LogsRequest extends BlockRange {
  readonly sources: LogSources;
  /** The contracts of positions. */
  readonly accounts: readonly Address[];
  /** A block that the node's chain must have, before and after the logs: all of them are then of one chain. */
  readonly anchor: { readonly number: bigint; readonly hash: Hex };
}

/** The logs of positions in a range of blocks. */
export interface LogsReading {
  /** In the order of the chain. */
  readonly logs: readonly RecordedLog[];
  readonly first: BlockHeader;
  readonly last: BlockHeader;
}

/** Number of requests of one reading. */
export function requestsOf({ sources, accounts }: Pick<LogsRequest, 'sources' | 'accounts'>): number {
  return planLogFilters(sources, accounts).length;
}

/**
 * Read the logs of positions in a range of blocks. Everything about the answer is checked: its form, blocks, contracts, topics
 * and data, that the blocks of the logs are those of the node's chain, and that this chain has the anchor and the last block
 * before the logs were read and after.
 * @throws RangeRefusedError when a smaller range may be answered
 * @throws BlockMissingError when the chain has changed meanwhile
 * @throws ChainReadError
 */
export async function readLogs(
  reading: Pick<Reading, 'client'>,
  request: LogsRequest,
  clock: Clock,
  options: ReadOptions = {},
): Promise<LogsReading> {
  const { fromBlock, toBlock, anchor, sources, accounts } = request;
  const headerOf = async (number: bigint): Promise<BlockHeader> => {
    const found = await readHeader(reading, number, clock, options);
    if (!found) throw new BlockMissingError();
    return found;
  };
  const last = await headerOf(toBlock);
  const filters = planLogFilters(sources, accounts);
  const answers = await Promise.all(filters.map((filter) => ask(reading, filter, request, options)));
  const logs = ofPositions(joinLogs(answers), sources);
  const numbers = [...new Set([fromBlock, toBlock, anchor.number, ...logs.map(({ blockNumber }) => blockNumber)])];
  const headers = new Map(await Promise.all(numbers.map(async (number) => [number, await headerOf(number)] as const)));
  const isSame =
    headers.get(toBlock)?.hash === last.hash &&
    headers.get(anchor.number)?.hash === anchor.hash &&
    logs.every(({ blockNumber, blockHash }) => headers.get(blockNumber)?.hash === blockHash);
  const first = headers.get(fromBlock);
  if (!isSame || !first) throw new BlockMissingError('implausible');
  const decoded = logs.flatMap((log) => decodeLog(log, headers.get(log.blockNumber)?.atMs ?? 0, sources) ?? []);
  return { first, last, logs: await withCallers(reading, decoded, sources, options) };
}

async function ask(
  { client }: Pick<Reading, 'client'>,
  filter: LogFilter,
  range: BlockRange,
  { signal }: ReadOptions,
): Promise<readonly NodeLog[]> {
  const params = {
    address: [...filter.addresses],
    topics: filter.topics.map((choice) => choice && [...choice]),
    fromBlock: numberToHex(range.fromBlock),
    toBlock: numberToHex(range.toBlock),
  };
  try {
    const answer: unknown = await client.request(
      { method: 'eth_getLogs', params: [params] } as never,
      signal ? { signal } : {},
    );
    if (isTooMany(answer)) throw new RangeRefusedError('refused', 'malformed');
    return parseLogs(answer, filter, range);
  } catch (error) {
    throw toLogsError(error, signal);
  }
}

/** Leave out transfers in transactions without an event of a position: anybody can make any number of them. */
function ofPositions(logs: readonly NodeLog[], { tokens }: LogSources): readonly NodeLog[] {
  const isToken = new Set<string>(tokens.map((token) => token.toLowerCase()));
  const transactions = new Set(logs.flatMap(({ address, txHash }) => (isToken.has(address) ? [] : [txHash])));
  return logs.filter(({ address, txHash }) => !isToken.has(address) || transactions.has(txHash));
}

import type { LogsReading } from '../chain/logs/read-logs.ts';
import { RangeRefusedError } from '../chain/logs/refusal.ts';
import type { BlockRange } from '../chain/logs/schema.ts';
import { CHAIN_SOURCE, ChainReadError } from '../chain/rpc/errors.ts';
import type { RecordedLog } from '../domain/history/types.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';

/** A reading, and the blocks whose stored logs it replaces. */
export interface AgreedLogs {
  readonly reading: LogsReading;
  readonly replaced: readonly bigint[];
  /** Blocks of which the only node answers no logs any more: the stored ones stay. */
  readonly kept: readonly bigint[];
}

export interface AgreedLogsInput {
  /** The logs that are stored of `again`. */
  readonly stored: readonly RecordedLog[];
  /** Blocks that were read before. */
  readonly again: BlockRange;
  readonly read: () => Promise<LogsReading>;
  /** Readings of further nodes, each of another one; none = the chain has a single node. */
  readonly readOthers: readonly (() => Promise<LogsReading>)[];
}

/**
 * Compare a reading with the logs that are stored of blocks that were read before. Where they differ, further nodes are asked,
 * each once: stored logs are replaced when two nodes agree on others. A single node is asked twice, and its two answers replace
 * stored logs, but do not remove all logs of a block.
 * @throws ChainReadError `implausible` when all answers and the stored logs differ
 * @throws UpstreamUnavailableError when no further node answers, which is no fault of the first one
 */
export async function agreedLogs(input: AgreedLogsInput): Promise<AgreedLogs> {
  const { stored, again, read, readOthers } = input;
  const first = await read();
  if (differences(stored, first.logs, again).length === 0) return { reading: first, replaced: [], kept: [] };
  const answers = [first];
  let failure: ChainReadError | undefined;
  for (const readNext of readOthers.length > 0 ? readOthers : [read]) {
    const reading = await readNext().catch((error: unknown) => {
      // A smaller range has an answer of every node.
      if (readOthers.length === 0 || error instanceof RangeRefusedError || !(error instanceof ChainReadError))
        throw error;
      failure = error;
    });
    if (!reading) continue;
    const isAgreed = answers.some(({ logs }) => differences(logs, reading.logs, again).length === 0);
    if (isAgreed) return replacementOf(input, reading);
    answers.push(reading);
  }
  if (failure && answers.length === 1) throw new UpstreamUnavailableError(CHAIN_SOURCE, failure.reason);
  // No two nodes agree, so the stored logs stay, if any of them confirms these.
  const confirming = answers.find(({ logs }) => differences(stored, logs, again).length === 0);
  if (!confirming) throw new ChainReadError('implausible');
  return { reading: confirming, replaced: [], kept: [] };
}

function replacementOf({ stored, again, readOthers }: AgreedLogsInput, reading: LogsReading): AgreedLogs {
  const differing = differences(stored, reading.logs, again);
  const answered = new Set(reading.logs.map(({ blockNumber }) => blockNumber));
  const isRemoval = (number: bigint) => readOthers.length === 0 && !answered.has(number);
  return {
    reading,
    replaced: differing.filter((number) => !isRemoval(number)),
    kept: differing.filter(isRemoval),
  };
}

/** The blocks of a range of which two lists have different logs. */
function differences(
  one: readonly RecordedLog[],
  other: readonly RecordedLog[],
  { fromBlock, toBlock }: BlockRange,
): readonly bigint[] {
  const [a, b] = [one, other].map((logs) => {
    const byBlock = new Map<bigint, string>();
    for (const log of logs) {
      if (log.blockNumber < fromBlock || log.blockNumber > toBlock) continue;
      byBlock.set(log.blockNumber, `${byBlock.get(log.blockNumber) ?? ''}${textOf(log)};`);
    }
    return byBlock;
  }) as [Map<bigint, string>, Map<bigint, string>];
  return [...new Set([...a.keys(), ...b.keys()])].filter((number) => a.get(number) !== b.get(number));
}

function textOf(log: RecordedLog): string {
  const { logIndex, blockHash, txHash, event, marketId, account, wallet, positionIndex, token, sender, receiver } = log;
  const { assets, shares, collateral, badDebt, badDebtShares } = log;
  const place = [logIndex, blockHash, txHash, event, marketId, positionIndex];
  // The sender of an event of the product's contract is of its transaction, and earlier versions have not read it.
  const parties = [account, wallet, token, wallet === null ? sender : null, receiver];
  return [...place, ...parties, assets, shares, collateral, badDebt, badDebtShares].map(String).join().toLowerCase();
}

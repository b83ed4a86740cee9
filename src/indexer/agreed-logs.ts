import type { LogsReading } from '../chain/logs/read-logs.ts';
import type { BlockRange } from '../chain/logs/schema.ts';
import { ChainReadError } from '../chain/rpc/errors.ts';
import type { RecordedLog } from '../domain/history/types.ts';

/** A reading, and the blocks whose stored logs it replaces. */
export interface AgreedLogs {
  readonly reading: LogsReading;
  readonly replaced: readonly bigint[];
}

/**
 * Compare a reading with the logs that are stored of blocks that were read before. Where they differ, the blocks are read once
 * more: two of the three answers have to agree.
 * @param stored the logs of `again`, the blocks that were read before
 * @throws ChainReadError `implausible` when all three differ
 */
export async function agreedLogs(
  read: () => Promise<LogsReading>,
  stored: readonly RecordedLog[],
  again: BlockRange,
): Promise<AgreedLogs> {
  const reading = await read();
  const differing = differences(stored, reading.logs, again);
  if (differing.length === 0) return { reading, replaced: [] };
  const third = await read();
  const isWrong = (number: bigint) => differences(reading.logs, third.logs, { fromBlock: number, toBlock: number });
  const replaced = differing.filter((number) => isWrong(number).length === 0);
  const isStored = (number: bigint) =>
    differences(stored, third.logs, { fromBlock: number, toBlock: number }).length === 0;
  if (!differing.every((number) => replaced.includes(number) || isStored(number))) {
    throw new ChainReadError('implausible');
  }
  return { reading: third, replaced };
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
  const parties = [account, wallet, token, sender, receiver];
  return [...place, ...parties, assets, shares, collateral, badDebt, badDebtShares].map(String).join().toLowerCase();
}

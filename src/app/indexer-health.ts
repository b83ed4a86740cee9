import { reasonOfUnknown } from '../domain/freshness/unknown-run.ts';
import { blocksBehind, type IndexerRecord, indexerStatus } from '../domain/history/indexer-state.ts';
import type { ChainId } from '../shared/ids.ts';

/** Format the reading of position logs of a chain for the health page; `undefined` = not known. */
export function formatIndexer(records: readonly IndexerRecord[] | null, chainId: ChainId, nowMs: number) {
  const record = records?.find((one) => one.chainId === chainId);
  if (!record) return undefined;
  const { range, run, found } = record;
  const at = (ms: number | null | undefined) => (ms == null ? undefined : new Date(ms).toISOString());
  const whole = (number: bigint | null | undefined) => (number == null ? undefined : Number(number));
  const status = indexerStatus(record, nowMs);
  return {
    status,
    statusReason: reasonOfUnknown(status) ?? undefined,
    completeFrom: range ? { blockNumber: Number(range.fromBlock), blockTime: at(range.fromMs) } : undefined,
    readTo: range ? { blockNumber: Number(range.toBlock), blockTime: at(range.toMs) } : undefined,
    headBlock: whole(run?.head),
    blocksBehind: whole(blocksBehind(record)),
    whole: range?.isWhole ?? false,
    found,
    expected: run?.expected ?? undefined,
    lastRun: at(run?.atMs),
    failure: run?.failure ?? undefined,
    failingSince: at(run?.failingSinceMs),
  };
}

import type { ChainId } from '../../shared/ids.ts';
import { isFromFuture } from '../../shared/observed.ts';
import type { ReadRange } from './types.ts';

/** States of the reading of position logs, the worst first for those that are read. */
export const INDEXER_STATUSES = [
  'never',
  'failing',
  'unknown',
  'stopped',
  'behind',
  'backfilling',
  'following',
] as const;

/** The latest run of the reading of position logs of a chain. */
export interface IndexerRunRecord {
  readonly atMs: number;
  /** Newest block of the chain; `null` = not known. */
  readonly head: bigint | null;
  /** Its time, ms; `null` = not known. */
  readonly headMs: number | null;
  /** Openings and creations of markets that are to be found; `null` = not known. */
  readonly expected: number | null;
  /** The reason of its failure; `null` = it did not fail. */
  readonly failure: string | null;
}

/** How far the logs of positions of a chain are read, and the run that read them. */
export interface IndexerRecord {
  readonly chainId: ChainId;
  /** `null` = nothing was read yet. */
  readonly range: ReadRange | null;
  /** `null` = no run is recorded. */
  readonly run:
    | (IndexerRunRecord & {
        /** First failure in a row; `null` = it does not fail. */ readonly failingSinceMs: number | null;
      })
    | null;
  /** Openings and creations of markets that were found. */
  readonly found: number;
}

export type IndexerStatus = (typeof INDEXER_STATUSES)[number];

/** Runs are seconds apart; one that waits for a slow node takes minutes. */
const STOPPED_AFTER_MS = 600_000;
/** As the alarm HistoryBehind has it. */
const BEHIND_MS = 3_600_000;

/** Blocks between the newest one of the chain and the newest one that was read; `null` = not known. */
export function blocksBehind({ range, run }: Pick<IndexerRecord, 'range' | 'run'>): bigint | null {
  if (!range || run?.head == null) return null;
  return run.head > range.toBlock ? run.head - range.toBlock : 0n;
}

/** Judge the reading of a chain, the worst first. */
export function indexerStatus(record: Pick<IndexerRecord, 'range' | 'run'>, nowMs: number): IndexerStatus {
  const { range, run } = record;
  if (run?.failure != null) return 'failing';
  if (!range) return 'never';
  if (run && isFromFuture(run.atMs, nowMs)) return 'unknown';
  if (run && nowMs - run.atMs > STOPPED_AFTER_MS) return 'stopped';
  // Of a chain that makes no blocks the newest one is old as well.
  if (run?.headMs != null && run.headMs - range.toMs > BEHIND_MS) return 'behind';
  return range.isWhole ? 'following' : 'backfilling';
}

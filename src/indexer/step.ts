import { MathLib } from '@morpho-org/blue-sdk';
import type { LogSources } from '../chain/logs/filters.ts';
import { firstRange, grown, type RangeSize, shrunk } from '../chain/logs/range.ts';
import { readLogs, requestsOf } from '../chain/logs/read-logs.ts';
import { RangeRefusedError } from '../chain/logs/refusal.ts';
import type { BlockRange } from '../chain/logs/schema.ts';
import type { BlockTime } from '../chain/mean-block-time.ts';
import type { Reading } from '../chain/reading.ts';
import { ChainReadError } from '../chain/rpc/errors.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { IndexerCursor, PositionHistoryRepository } from '../database/position-history.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { agreedLogs } from './agreed-logs.ts';
import { MovedCursorError } from './follow-chain.ts';
import { otherNodes } from './other-nodes.ts';

/** `again`: blocks that were read before, from another node where there is one. */
export type ReadDirection = 'newer' | 'older' | 'again';

export interface StepInput {
  readonly cursor: IndexerCursor;
  /** The contracts of positions. */
  readonly accounts: readonly Address[];
  readonly direction: ReadDirection;
  /** Last block in the direction. */
  readonly end: bigint;
  /** First block of a direction `again`, which has to be within the cursor. */
  readonly from?: bigint | undefined;
  readonly blockTime: BlockTime;
  readonly signal: AbortSignal;
}

export interface ReadStepResult {
  readonly cursor: IndexerCursor;
  /** Last block that was read. */
  readonly toBlock: bigint;
  readonly requests: number;
  readonly logs: number;
  /** Blocks whose stored logs were wrong. */
  readonly correctedBlocks: number;
  /** `false` = the node refused the range, and the next step is smaller. */
  readonly isRead: boolean;
}

export interface ReadStepDeps {
  readonly nodes: Pick<ChainNodes, 'read' | 'status'>;
  readonly chainId: ChainId;
  readonly sources: LogSources;
  readonly history: PositionHistoryRepository;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly take: (requests: number) => Promise<boolean>;
}

/** Headers of one step beside its logs. */
const HEADER_REQUESTS = 4;
/**
 * Time of blocks that are read again with the next ones, and the least number of them: a URL may be served by several nodes, of which
 * one may have answered that there are no logs because it did not have the newest blocks. Logs that a node answers otherwise then
 * are wrong once.
 */
const OVERLAP_SEC = 60;
const LEAST_OVERLAP_BLOCKS = 16n;

/**
 * Create the reading of one range of blocks into the database. The range adapts to the answers of the node. `null` = the budget of
 * requests is used up.
 */
export function createReadStep({ nodes, chainId, sources, history, clock, logger, take }: ReadStepDeps) {
  let size: RangeSize | undefined;
  let successes = 0;
  let overlaps = true;

  /** @throws RangeRefusedError, ChainReadError, UpstreamUnavailableError, MovedCursorError */
  const readInto = async (reading: Reading, range: BlockRange, input: StepInput) => {
    const { cursor, accounts, direction, signal } = input;
    const [anchor] = await history.readBlocks(chainId, 1);
    if (!anchor) throw new MovedCursorError();
    const request = { ...range, sources, accounts, anchor };
    const isNewer = direction === 'newer';
    const again = { fromBlock: range.fromBlock, toBlock: isNewer ? cursor.toBlock : range.toBlock };
    const isAgain = direction !== 'older' && again.fromBlock <= again.toBlock;
    const stored = isAgain ? await history.between(chainId, again) : [];
    const read = (of: Pick<Reading, 'client'>) => readLogs(of, request, clock, { signal });
    const readOwn = () => read(reading);
    const readOthers = otherNodes(nodes, reading, signal).map((on) => () => on(read));
    const { replaced, kept, ...agreed } = isAgain
      ? await agreedLogs({
          stored,
          again,
          ...(isNewer ? { read: readOwn, readOthers } : otherFirst(readOwn, readOthers)),
        })
      : { reading: await readOwn(), replaced: [], kept: [] };
    const { logs, first, last } = agreed.reading;
    if (replaced.length > 0) {
      logger.warn({ chainId, blocks: replaced.map(Number) }, 'logs of positions were wrong and are replaced');
    }
    if (kept.length > 0) {
      logger.warn(
        { chainId, blocks: kept.map(Number) },
        'the only node has no logs of positions where some are stored',
      );
    }
    const moved = {
      newer: { ...cursor, toBlock: last.number, toMs: last.atMs },
      older: { ...cursor, fromBlock: first.number, fromMs: first.atMs },
      again: cursor,
    }[direction];
    const step = { cursor: moved, logs, replaced, newest: isNewer ? last : undefined };
    if (!(await history.append(chainId, cursor, step))) throw new MovedCursorError();
    const added = direction === 'again' ? 0 : logs.length;
    return { cursor: moved, toBlock: range.toBlock, logs: added, correctedBlocks: replaced.length };
  };

  return async (reading: Reading, input: StepInput): Promise<ReadStepResult | null> => {
    const requests = requestsOf({ sources, accounts: input.accounts }) + HEADER_REQUESTS;
    if (!(await take(requests))) return null;
    size ??= firstRange((await reading.capabilities()).logRange);
    const range = nextRange(input, BigInt(size.blocks), overlaps);
    try {
      const read = await readInto(reading, range, input);
      successes += 1;
      size = grown(size, successes);
      overlaps = true;
      return { ...read, requests, isRead: true };
    } catch (error) {
      const asked = Number(range.toBlock - range.fromBlock) + 1;
      if (!(error instanceof RangeRefusedError)) {
        // A node may refuse a range in words that nobody knows: the next run tries a smaller one, this run sends nothing more.
        if (error instanceof ChainReadError && error.reason === 'server_error') {
          size = shrunk({ blocks: asked, ceiling: asked }, 'refused') ?? size;
        }
        throw error;
      }
      const smaller = shrunk({ blocks: asked, ceiling: asked }, error.why);
      if (!smaller) throw error;
      logger.debug({ chainId, blocks: smaller.blocks, reason: error.reason }, 'range of logs refused');
      size = smaller;
      overlaps = false;
      return {
        cursor: input.cursor,
        toBlock: range.fromBlock - 1n,
        requests,
        logs: 0,
        correctedBlocks: 0,
        isRead: false,
      };
    }
  };
}

/** Read from another node first, and from this one where the other fails. */
function otherFirst<T>(readOwn: () => Promise<T>, [another, ...others]: readonly (() => Promise<T>)[]) {
  if (!another) return { read: readOwn, readOthers: [] };
  const read = () =>
    another().catch((error: unknown) => {
      if (!(error instanceof ChainReadError)) throw error;
      return readOwn();
    });
  return { read, readOthers: [readOwn, ...others] };
}

function nextRange(
  { cursor, direction, end, from = 0n, blockTime }: StepInput,
  blocks: bigint,
  overlaps: boolean,
): BlockRange {
  if (direction === 'older') {
    const toBlock = cursor.fromBlock - 1n;
    return { fromBlock: MathLib.max(toBlock - blocks + 1n, end), toBlock };
  }
  if (direction === 'again') return { fromBlock: from, toBlock: MathLib.min(from + blocks - 1n, end) };
  const toBlock = MathLib.min(cursor.toBlock + blocks, end);
  // New blocks come first: the others get the rest of the range that the node answers.
  const room = MathLib.max(blocks - (toBlock - cursor.toBlock), LEAST_OVERLAP_BLOCKS);
  const wanted = MathLib.max(blockTime.blocksIn(OVERLAP_SEC), LEAST_OVERLAP_BLOCKS);
  const again = cursor.toBlock - (overlaps ? MathLib.min(wanted, room) : 0n) + 1n;
  return { fromBlock: MathLib.max(again, cursor.fromBlock), toBlock };
}

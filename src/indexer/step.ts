import type { LogSources } from '../chain/logs/filters.ts';
import { firstRange, grown, type RangeSize, shrunk } from '../chain/logs/range.ts';
import { readLogs, requestsOf } from '../chain/logs/read-logs.ts';
import { RangeRefusedError } from '../chain/logs/refusal.ts';
import type { BlockRange } from '../chain/logs/schema.ts';
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

export type ReadDirection = 'newer' | 'older';

export interface StepInput {
  readonly cursor: IndexerCursor;
  /** The contracts of positions. */
  readonly accounts: readonly Address[];
  readonly direction: ReadDirection;
  /** Last block in the direction. */
  readonly end: bigint;
  readonly signal: AbortSignal;
}

export interface ReadStepResult {
  readonly cursor: IndexerCursor;
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
 * Blocks that are read again with the next ones: a URL may be served by several nodes, of which one may have answered that there
 * are no logs because it did not have the newest blocks. Logs that a node answers otherwise then are wrong once.
 */
const OVERLAP_BLOCKS = 16n;

/**
 * Create the reading of one range of blocks into the database. The range adapts to the answers of the node. `null` = the budget of
 * requests is used up.
 */
export function createReadStep({ nodes, chainId, sources, history, clock, logger, take }: ReadStepDeps) {
  let size: RangeSize | undefined;
  let successes = 0;
  let overlap = OVERLAP_BLOCKS;

  /** @throws RangeRefusedError, ChainReadError, UpstreamUnavailableError, MovedCursorError */
  const readInto = async (reading: Reading, range: BlockRange, input: StepInput) => {
    const { cursor, accounts, direction, signal } = input;
    const [anchor] = await history.readBlocks(chainId, 1);
    if (!anchor) throw new MovedCursorError();
    const request = { ...range, sources, accounts, anchor };
    const isNewer = direction === 'newer';
    const again = { fromBlock: range.fromBlock, toBlock: cursor.toBlock };
    const isAgain = isNewer && again.fromBlock <= again.toBlock;
    const stored = isAgain ? await history.between(chainId, again) : [];
    const read = (of: Pick<Reading, 'client'>) => readLogs(of, request, clock, { signal });
    const readOthers = otherNodes(nodes, reading, signal).map((on) => () => on(read));
    const { replaced, kept, ...agreed } = isAgain
      ? await agreedLogs({ stored, again, read: () => read(reading), readOthers })
      : { reading: await read(reading), replaced: [], kept: [] };
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
    const moved = isNewer
      ? { ...cursor, toBlock: last.number, toMs: last.atMs }
      : { ...cursor, fromBlock: first.number, fromMs: first.atMs };
    const step = { cursor: moved, logs, replaced, newest: isNewer ? last : undefined };
    if (!(await history.append(chainId, cursor, step))) throw new MovedCursorError();
    return { cursor: moved, logs: logs.length, correctedBlocks: replaced.length };
  };

  return async (reading: Reading, input: StepInput): Promise<ReadStepResult | null> => {
    const requests = requestsOf({ sources, accounts: input.accounts }) + HEADER_REQUESTS;
    if (!(await take(requests))) return null;
    size ??= firstRange((await reading.capabilities()).logRange);
    const range = nextRange(input, BigInt(size.blocks), overlap);
    try {
      const read = await readInto(reading, range, input);
      successes += 1;
      size = grown(size, successes);
      overlap = OVERLAP_BLOCKS;
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
      overlap = 0n;
      return { cursor: input.cursor, requests, logs: 0, correctedBlocks: 0, isRead: false };
    }
  };
}

function nextRange({ cursor, direction, end }: StepInput, blocks: bigint, overlap: bigint): BlockRange {
  if (direction === 'newer') {
    const toBlock = cursor.toBlock + blocks;
    const again = cursor.toBlock - overlap + 1n;
    return { fromBlock: again > cursor.fromBlock ? again : cursor.fromBlock, toBlock: toBlock < end ? toBlock : end };
  }
  const toBlock = cursor.fromBlock - 1n;
  const fromBlock = toBlock - blocks + 1n;
  return { fromBlock: fromBlock > end ? fromBlock : end, toBlock };
}

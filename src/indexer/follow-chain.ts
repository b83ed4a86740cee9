import type { BlockHeader } from '../chain/logs/headers.ts';
import { readHeader } from '../chain/logs/headers.ts';
import type { Reading } from '../chain/reading.ts';
import { BlockMissingError, ChainReadError } from '../chain/rpc/errors.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { IndexerCursor, PositionHistoryRepository, ReadBlock } from '../database/position-history.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { otherNodes } from './other-nodes.ts';
import { isSameChain } from './scope.ts';

/** Another process reads the same chain at the same time. */
export class MovedCursorError extends Error {}

/** A cursor that is on the chain of the node, and the number of blocks that were removed for it. */
export interface FollowedCursor {
  readonly cursor: IndexerCursor;
  readonly rewound: number;
}

/**
 * Return the cursor on the chain of the node: everything after the last common block is removed. Without a cursor, or for another
 * scope, reading begins at `target`.
 * @throws ChainReadError, UpstreamUnavailableError, MovedCursorError
 */
export type FollowChain = (
  reading: Reading,
  scope: string,
  target: BlockHeader,
  signal: AbortSignal,
) => Promise<FollowedCursor>;

export interface FollowChainDeps {
  readonly nodes: Pick<ChainNodes, 'read' | 'status'>;
  readonly chainId: ChainId;
  readonly history: PositionHistoryRepository;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Blocks that are compared at once when the chain was reorganized, the newest first. */
const COMPARED_BLOCKS = 32;
/**
 * How long the head of every node may be below the blocks that were read, or one node may lack a block that another one has, before
 * blocks are removed.
 */
const BEHIND_MS = 600_000;

/** Create the following of reorganizations of one chain. */
export function createFollowChain({ nodes, chainId, history, clock, logger }: FollowChainDeps): FollowChain {
  let behindSinceMs: number | undefined;
  let disputed: { readonly hash: string; readonly sinceMs: number } | undefined;

  /** @throws BlockMissingError while another node has the newest block that was read, which the node of the reading lacks */
  const requireReplaced = async (reading: Reading, newest: ReadBlock, signal: AbortSignal): Promise<void> => {
    for (const on of otherNodes(nodes, reading, signal)) {
      const found = await on((other) => readHeader(other, newest.number, clock, { signal })).catch((error: unknown) => {
        if (!(error instanceof ChainReadError)) throw error;
        return null;
      });
      if (found?.hash !== newest.hash) continue;
      if (disputed?.hash !== newest.hash) disputed = { hash: newest.hash, sinceMs: clock.now() };
      if (clock.now() - disputed.sinceMs < BEHIND_MS) throw new BlockMissingError('implausible');
    }
  };

  const beginAt = async (scope: string, head: BlockHeader, keepsMarks: boolean): Promise<IndexerCursor> => {
    const { number, atMs } = head;
    const cursor = { scope, fromBlock: number + 1n, fromMs: atMs, toBlock: number, toMs: atMs, isWhole: false };
    await history.begin(chainId, cursor, head, keepsMarks);
    logger.info({ chainId, block: Number(number) }, 'position history begins');
    return cursor;
  };

  return async (reading, scope, target, signal) => {
    const cursor = await history.cursor(chainId);
    if (cursor === null || cursor.scope !== scope) {
      const keepsMarks = cursor !== null && isSameChain(cursor.scope, scope);
      return { cursor: await beginAt(scope, target, keepsMarks), rewound: 0 };
    }
    // The target is a duration behind the head, which is another number of blocks each time.
    const head = reading.block.number;
    const isBehind = head < cursor.toBlock;
    if (!isBehind) behindSinceMs = undefined;
    else {
      behindSinceMs ??= clock.now();
      if (clock.now() - behindSinceMs < BEHIND_MS) throw new BlockMissingError();
    }
    const known = (await history.readBlocks(chainId)).filter(({ number }) => number <= head);
    // The newest alone first: it is the answer unless the chain was reorganized.
    for (let [from, count] = [0, 1]; from < known.length; [from, count] = [from + count, COMPARED_BLOCKS]) {
      const page = known.slice(from, from + count);
      const headers = await Promise.all(page.map(({ number }) => readHeader(reading, number, clock, { signal })));
      const common = page.find(({ hash }, i) => headers[i]?.hash === hash);
      if (!common) continue;
      if (common.number === cursor.toBlock) return { cursor, rewound: 0 };
      if (from > 0 && known[0]) await requireReplaced(reading, known[0], signal);
      if (!(await history.rewind(chainId, cursor, common))) throw new MovedCursorError();
      const rewound = Number(cursor.toBlock - common.number);
      logger.warn(
        { chainId, block: Number(common.number), blocks: rewound },
        'position history follows a reorganization',
      );
      return { cursor: { ...cursor, toBlock: common.number, toMs: common.atMs }, rewound };
    }
    if (known[0]) await requireReplaced(reading, known[0], signal);
    logger.warn({ chainId, block: Number(cursor.toBlock) }, 'position history does not belong to this chain');
    return {
      cursor: await beginAt(cursor.scope, target, false),
      rewound: Number(cursor.toBlock - cursor.fromBlock) + 1,
    };
  };
}

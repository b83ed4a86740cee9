import type { Reading } from '../chain/reading.ts';
import { ChainReadError } from '../chain/rpc/errors.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { MarketMarkRepository, MarkReading, UnmarkedBlock } from '../database/market-marks.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { otherNodes } from './other-nodes.ts';

export interface ConfirmationDeps {
  readonly nodes: Pick<ChainNodes, 'read' | 'status'>;
  readonly chainId: ChainId;
  readonly marks: Pick<MarketMarkRepository, 'at'>;
  readonly logger: Logger;
  /** Take the requests of one block from the budget; `false` = there are not as many now. */
  readonly take: () => Promise<boolean>;
  /** Read the marks of a block. @throws ChainReadError */
  readonly atBlock: (reading: Reading, block: UnmarkedBlock, signal: AbortSignal) => Promise<readonly MarkReading[]>;
}

/** Create the comparison of marks with the stored ones and with other nodes. A stored mark is replaced, and never removed. */
export function createConfirmation({ nodes, chainId, marks, logger, take, atBlock }: ConfirmationDeps) {
  /** Ask the other nodes once for marks that the first one lacks, or that differ from stored ones. */
  return async (
    reading: Reading,
    block: UnmarkedBlock,
    found: readonly MarkReading[],
    signal: AbortSignal,
  ): Promise<MarkReading[]> => {
    const stored = new Map<MarketId, MarkReading['mark']>();
    for (const { marketId } of found) {
      const [mark] = await marks.at(chainId, marketId, [block.number]);
      if (mark) stored.set(marketId, mark);
    }
    const isOpen = ({ marketId, mark }: MarkReading) => {
      const before = stored.get(marketId);
      return before ? !isSame(mark, before) : mark === null;
    };
    let second: readonly MarkReading[] = [];
    const others = found.some(isOpen) ? otherNodes(nodes, reading, signal) : [];
    for (const on of others) {
      if (!(await take())) break;
      second = await on((other) => atBlock(other, block, signal)).catch((error: unknown) => {
        if (!(error instanceof ChainReadError)) throw error;
        return [];
      });
      if (second.some(({ mark }) => mark !== null)) break;
    }
    return found.map((first) => {
      if (!isOpen(first)) return first;
      const { marketId } = first;
      const before = stored.get(marketId);
      const other = second.find((mark) => mark.marketId === marketId)?.mark ?? null;
      if (!before) return { ...first, mark: other };
      const isReplaced = first.mark !== null && (others.length === 0 || isSame(first.mark, other));
      const about = { chainId, marketId, block: Number(block.number), stored: String(before.price) };
      if (isReplaced)
        logger.warn({ ...about, price: String(first.mark?.price) }, 'a price at an event was wrong and is replaced');
      else if (first.mark) logger.warn(about, 'a price at an event differs between nodes and stays');
      return isReplaced ? first : { ...first, mark: before };
    });
  };
}

function isSame(one: MarkReading['mark'], other: MarkReading['mark']): boolean {
  if (one === null || other === null) return one === other;
  const { price, totalBorrowAssets, totalBorrowShares } = one;
  return (
    price === other.price &&
    totalBorrowAssets === other.totalBorrowAssets &&
    totalBorrowShares === other.totalBorrowShares
  );
}

import { numberToHex } from 'viem';
import type { Chain, Market } from '../catalog/types.ts';
import { createMarketReading, type LendingReading } from '../chain/markets.ts';
import { createReadAt } from '../chain/read-at.ts';
import type { Reading } from '../chain/reading.ts';
import { ChainReadError } from '../chain/rpc/errors.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { MarketMarkRepository, MarkReading, UnmarkedBlock } from '../database/market-marks.ts';
import type { FailureReason } from '../domain/facts.ts';
import { accrue } from '../domain/market/accrue.ts';
import { isPossiblePrice } from '../domain/market/oracle-range.ts';
import type { Clock } from '../shared/clock.ts';
import type { MarketId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { createConfirmation } from './confirmed-marks.ts';

export interface MarkReadingDeps {
  readonly nodes: Pick<ChainNodes, 'read' | 'status'>;
  readonly logger: Logger;
  readonly chain: Pick<Chain, 'chainId' | 'contracts' | 'markets'>;
  readonly marks: MarketMarkRepository;
  readonly clock: Clock;
  /** Take requests from the budget; `false` = there are not as many now. */
  readonly take: (requests: number) => Promise<boolean>;
}

const HOUR_MS = 3_600_000;
/** Blocks of one run, and those that are read at once. */
const BLOCKS_PER_RUN = 200;
const BLOCKS_AT_ONCE = 10;
/** State and rates. */
const REQUESTS_PER_BLOCK = 2;
/** Failures that the next run would repeat: the node has dropped the state of the block. */
const LASTING: readonly FailureReason[] = ['missing', 'server_error', 'malformed', 'reverted'];

/**
 * Create the reading of the markets of positions: at the blocks of their events, which needs a node with the state of these
 * blocks, and once an hour. Returns the number of marks that it has stored.
 */
export function createMarkReading({ nodes, chain, marks, clock, logger, take }: MarkReadingDeps) {
  const { chainId, contracts } = chain;
  const readMarkets = createMarketReading(
    { contracts },
    createReadAt({ chainId, multicall3: contracts.multicall3, clock }),
  );
  const known = new Map(chain.markets.map((market) => [market.id, market] as const));
  const marketsOf = (ids: readonly MarketId[]): readonly Market[] => ids.flatMap((id) => known.get(id) ?? []);

  const atBlock = async (reading: Reading, block: UnmarkedBlock, signal: AbortSignal): Promise<MarkReading[]> => {
    const { number, hash, atMs } = block;
    const at = typeof reading.at === 'string' ? numberToHex(number) : { blockHash: hash };
    const past = { ...reading, at, block: { ...reading.block, number, hash, timestamp: BigInt(atMs / 1_000) } };
    const failed = block.marketIds.map(
      (marketId): MarkReading => ({ marketId, blockNumber: number, atMs, isSample: false, mark: null }),
    );
    try {
      const read = await readMarkets(past, marketsOf(block.marketIds), { signal });
      const found = marksOf(read, false);
      return [...found, ...failed.filter(({ marketId }) => !found.some((mark) => mark.marketId === marketId))];
    } catch (error) {
      if (error instanceof ChainReadError && LASTING.includes(error.reason)) return failed;
      throw error;
    }
  };

  const marksOf = ({ block, lending, oracle }: LendingReading, isSample: boolean): MarkReading[] =>
    [...lending.values].flatMap(([marketId, lendingState]) => {
      const market = known.get(marketId);
      const price = market && oracle.values.get(market.oracle)?.price;
      // An impossible price is none: a history would be worth nothing, or everything.
      if (!market || price === undefined || !isPossiblePrice(price, market)) return [];
      const { totalBorrowAssets, totalBorrowShares } = accrue(lendingState);
      const atMs = Number(block.timestamp) * 1_000;
      return [
        { marketId, blockNumber: block.number, atMs, isSample, mark: { price, totalBorrowAssets, totalBorrowShares } },
      ];
    });

  const confirmed = createConfirmation({
    nodes,
    chainId,
    marks,
    logger,
    take: () => take(REQUESTS_PER_BLOCK),
    atBlock,
  });

  return async (reading: Reading, signal: AbortSignal): Promise<number> => {
    let stored = 0;
    const blocks = await marks.unmarked(chainId, BLOCKS_PER_RUN);
    for (let from = 0; from < blocks.length; from += BLOCKS_AT_ONCE) {
      const page = blocks.slice(from, from + BLOCKS_AT_ONCE);
      if (!(await take(page.length * REQUESTS_PER_BLOCK))) return stored;
      const found = await Promise.all(page.map((block) => atBlock(reading, block, signal)));
      const readings: MarkReading[] = [];
      for (const [i, block] of page.entries()) {
        readings.push(...(await confirmed(reading, block, found[i] ?? [], signal)));
      }
      await marks.record(chainId, readings);
      stored += readings.filter(({ mark }) => mark !== null).length;
    }
    const newestMs = await marks.newestSampleMs(chainId);
    const nowMs = Number(reading.block.timestamp) * 1_000;
    if (newestMs !== null && nowMs - newestMs < HOUR_MS) return stored;
    const markets = marketsOf(await marks.markets(chainId));
    if (markets.length === 0 || !(await take(REQUESTS_PER_BLOCK))) return stored;
    const samples = marksOf(await readMarkets(reading, markets, { signal }), true);
    await marks.record(chainId, samples);
    return stored + samples.length;
  };
}

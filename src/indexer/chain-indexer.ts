import { MathLib } from '@morpho-org/blue-sdk';
import type { Chain } from '../catalog/types.ts';
import { logSourcesOf } from '../chain/logs/filters.ts';
import { type BlockHeader, readHeader } from '../chain/logs/headers.ts';
import { type BlockTime, createBlockTime } from '../chain/mean-block-time.ts';
import type { Reading } from '../chain/reading.ts';
import { BlockMissingError } from '../chain/rpc/errors.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { MarketMarkRepository } from '../database/market-marks.ts';
import type { IndexerCursor, PositionHistoryRepository } from '../database/position-history.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { createFollowChain, MovedCursorError } from './follow-chain.ts';
import { createMarkReading } from './market-marks.ts';
import { createAccounts, readScope } from './scope.ts';
import { createReadStep, type ReadDirection } from './step.ts';

/** The work of a run, for logs and metrics. */
export interface IndexerRun {
  readonly logs: number;
  readonly steps: number;
  readonly requests: number;
  /** Blocks that were removed because the chain replaced them. */
  readonly rewoundBlocks: number;
  /** Blocks whose logs were replaced because a node had answered wrong ones. */
  readonly correctedBlocks: number;
  readonly marks: number;
}

/** How far the logs of a chain are read, by the latest run of this process. */
export interface IndexerState {
  readonly head: bigint;
  /** Its time, ms. */
  readonly headAtMs: number;
  readonly cursor: IndexerCursor;
  /** Openings and creations of markets that are to be found. */
  readonly expected: number;
}

export interface ChainIndexer {
  /**
   * Read the logs that are new, then older ones, as far as the budget of requests goes, and the state of markets at their
   * blocks. It goes on where the run before ended, also one that was killed.
   * @throws ChainReadError, UpstreamUnavailableError
   */
  run(signal: AbortSignal): Promise<IndexerRun>;
  /** `null` before the first run. */
  state(): IndexerState | null;
}

export interface ChainIndexerDeps {
  readonly nodes: ChainNodes;
  readonly chain: Pick<Chain, 'chainId' | 'contracts' | 'tokens' | 'markets'>;
  readonly history: PositionHistoryRepository;
  readonly marks: MarketMarkRepository;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Age at which blocks are read, seconds. */
  readonly confirmationSec: number;
  /** Take requests from the budget; `false` = there are not as many now. */
  readonly take: (requests: number) => Promise<boolean>;
}

/**
 * Blocks of this age are read a second time, several minutes of them at once, beginning with those of the hour before this process
 * has started: a node that was behind, or another one behind the same URL, has them by then.
 */
const SECOND_READ_AFTER_SEC = 600;
const SECOND_READ_EVERY_SEC = 300;
const SECOND_READ_OF_SEC = 3_600;

/** Create the indexer of position logs of one chain. One run at a time, of one process: a job with a lease runs it. */
export function createChainIndexer(deps: ChainIndexerDeps): ChainIndexer {
  const { nodes, chain, history, clock, logger, confirmationSec } = deps;
  const { chainId } = chain;
  const sources = logSourcesOf(chain);
  const accountsOf = createAccounts(chain.contracts.flashLeverage);
  const readMarks = createMarkReading(deps);
  const follow = createFollowChain({ ...deps, chainId });
  const readStep = createReadStep({ ...deps, chainId, sources });
  const blockTimeOf = createBlockTime(clock);
  let state: IndexerState | null = null;
  /** Up to this block everything was read a second time. */
  let secondTo: bigint | undefined;

  const targetOf = async (reading: Reading, blockTime: BlockTime, signal: AbortSignal): Promise<BlockHeader> => {
    const { number, hash, timestamp } = reading.block;
    if (confirmationSec === 0)
      return { number, hash: hash.toLowerCase() as typeof hash, atMs: Number(timestamp) * 1_000 };
    const confirming = blockTime.blocksIn(confirmationSec);
    const header = await readHeader(reading, MathLib.max(number - confirming, 0n), clock, { signal });
    if (!header) throw new BlockMissingError();
    return header;
  };

  const complete = async (cursor: IndexerCursor): Promise<IndexerCursor> => {
    const whole = { ...cursor, isWhole: true };
    if (!(await history.append(chainId, cursor, { cursor: whole, logs: [] }))) throw new MovedCursorError();
    logger.info({ chainId, fromBlock: Number(cursor.fromBlock) }, 'position history is complete');
    return whole;
  };

  /** Whether older blocks have nothing to add. */
  const isAllFound = async (positions: number): Promise<boolean> => {
    const { openings, createdMarkets } = await history.beginnings(chainId);
    return openings >= positions && createdMarkets >= sources.stockMarkets.length;
  };

  const run = async (reading: Reading, signal: AbortSignal, done: MutableRun): Promise<void> => {
    const blockTime = await blockTimeOf(reading, { signal });
    const target = await targetOf(reading, blockTime, signal);
    const scope = await readScope(reading, chain, sources, signal);
    const accounts = await accountsOf(scope.createdContracts);
    const followed = await follow(reading, scope.key, target, signal);
    done.rewoundBlocks += followed.rewound;
    let { cursor } = followed;
    secondTo ??= MathLib.max(cursor.toBlock - blockTime.blocksIn(SECOND_READ_OF_SEC), 0n);
    secondTo = MathLib.min(secondTo, cursor.toBlock);
    const expected = accounts.length + sources.stockMarkets.length;
    const note = (reached: IndexerCursor): void => {
      const { number, timestamp } = reading.block;
      state = { head: number, headAtMs: Number(timestamp) * 1_000, cursor: reached, expected };
    };
    note(cursor);
    const step = async (direction: ReadDirection, end: bigint, from?: bigint): Promise<bigint | null> => {
      const made = await readStep(reading, { cursor, accounts, direction, end, from, blockTime, signal });
      if (!made) return null;
      done.requests += made.requests;
      done.logs += made.logs;
      done.correctedBlocks += made.correctedBlocks;
      done.steps += made.isRead ? 1 : 0;
      cursor = made.cursor;
      note(cursor);
      return made.toBlock;
    };
    while (cursor.toBlock < target.number) if ((await step('newer', target.number)) === null) return;
    while (!cursor.isWhole) {
      if (cursor.fromBlock === 0n || (await isAllFound(accounts.length))) {
        cursor = await complete(cursor);
        note(cursor);
      } else if ((await step('older', 0n)) === null) break;
    }
    done.marks += await readMarks(reading, signal);
    const end = cursor.toBlock - blockTime.blocksIn(SECOND_READ_AFTER_SEC);
    // Older blocks are still to be read for the first time.
    if (!cursor.isWhole && cursor.fromBlock > secondTo + 1n) return;
    if (end - secondTo < blockTime.blocksIn(SECOND_READ_EVERY_SEC)) return;
    while (secondTo < end) {
      const read = await step('again', end, MathLib.max(secondTo + 1n, cursor.fromBlock));
      if (read === null) return;
      secondTo = read;
    }
  };

  return {
    state: () => state,
    async run(signal) {
      const done: MutableRun = { logs: 0, steps: 0, requests: 0, rewoundBlocks: 0, correctedBlocks: 0, marks: 0 };
      try {
        await nodes.read((reading) => run(reading, signal, done), { signal });
      } catch (error) {
        // The process that moved it goes on.
        if (!(error instanceof MovedCursorError)) throw error;
      }
      return done;
    },
  };
}

type MutableRun = { -readonly [K in keyof IndexerRun]: IndexerRun[K] };

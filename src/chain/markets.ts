import type { Chain, Market } from '../catalog/types.ts';
import type { LendingState, OracleFeed, OraclePrice } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';
import { betweenEvents, runInSlices, type Slicing } from '../shared/slices.ts';
import { createLens, type LensReading } from './lens/lens.ts';
import { type FeedQuestion, foldFeeds, planFeeds } from './plans/feeds.ts';
import { foldLendingState, planLendingState } from './plans/lending-state.ts';
import type { Reading } from './reading.ts';
import { ChainReadError } from './rpc/errors.ts';
import type { BlockRef, Readings, ReadOptions } from './types.ts';

export interface LendingReading {
  readonly block: BlockRef;
  readonly lending: Readings<MarketId, LendingState>;
  readonly oracle: Readings<Address, OraclePrice>;
}

/**
 * Read markets at one block: their state, their oracles' values and the feeds behind those. One request for up to 25,000
 * markets. What is not known of feeds is left out, and harms nothing else.
 * @throws ChainReadError when no market can be read
 */
export type ReadMarkets = (
  reading: Reading,
  markets: readonly Market[],
  options?: ReadOptions,
) => Promise<LendingReading>;

export interface MarketsDeps {
  readonly chain: { readonly chainId: ChainId; readonly contracts: Pick<Chain['contracts'], 'morphoBlue'> };
  readonly clock: Clock;
  /** Markets that one call reads; default 100. */
  readonly marketsPerCall?: number;
  /** How plans and answers are worked through in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

/** Create the reading of one chain's markets. */
export function createMarketReading(deps: MarketsDeps): ReadMarkets {
  const { chain, clock, marketsPerCall, slicing = betweenEvents } = deps;
  const askLens = createLens({ chainId: chain.chainId, clock, slicing });

  const askFeeds = async (
    reading: Reading,
    questions: readonly FeedQuestion[],
    options: ReadOptions | undefined,
  ): Promise<LensReading | null> => {
    if (questions.length === 0) return null;
    try {
      return await askLens(reading, questions, options);
    } catch (error) {
      if (error instanceof ChainReadError) return null;
      throw error;
    }
  };

  return async (reading, markets, options) => {
    const { morphoBlue } = chain.contracts;
    // All are written before the first is sent: what is sent in one turn is one request.
    const questions = await runInSlices(planLendingState(morphoBlue, markets, marketsPerCall), slicing);
    const oracles = [...new Set(markets.map(({ oracle }) => oracle))];
    const feedQuestions = await runInSlices(planFeeds(oracles, marketsPerCall), slicing);
    const [{ block, results }, dated] = await Promise.all([
      askLens(reading, questions, options),
      askFeeds(reading, feedQuestions, options),
    ]);
    const { lending, oracle } = await runInSlices(foldLendingState(questions, results, block), slicing);
    // The same number with another time is another block: its dates are not those of these prices.
    if (dated === null || dated.block.timestamp !== block.timestamp) return { block, lending, oracle };
    const feeds = await runInSlices(foldFeeds(feedQuestions, dated.results, block), slicing);
    return { block, lending, oracle: await runInSlices(withFeeds(oracle, feeds), slicing) };
  };
}

function* withFeeds(
  { values, failures }: Readings<Address, OraclePrice>,
  feeds: ReadonlyMap<Address, readonly OracleFeed[]>,
): Generator<void, Readings<Address, OraclePrice>, void> {
  const dated = new Map<Address, OraclePrice>();
  for (const [oracle, price] of values) {
    const behind = feeds.get(oracle);
    dated.set(oracle, behind === undefined ? price : { ...price, feeds: behind });
    yield;
  }
  return { values: dated, failures };
}

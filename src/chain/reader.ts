import type { Chain, Market, Token } from '../catalog/types.ts';
import type { LendingState, OraclePrice } from '../domain/facts.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';
import { betweenEvents, runInSlices, type Slicing } from '../shared/slices.ts';
import type { ChainClient } from './client.ts';
import { ChainReadError } from './errors.ts';
import { createExecutor } from './execute.ts';
import { foldLendingState, foldStoredState, planBorrowRates, planStoredState } from './plans/lending-state.ts';
import { foldOnchainRates, isRated, planOnchainRates } from './plans/onchain-rates.ts';
import type { BlockRef, Readings, ReadOptions } from './types.ts';

export interface LendingReading {
  readonly block: BlockRef;
  readonly lending: Readings<MarketId, LendingState>;
  readonly oracle: Readings<Address, OraclePrice>;
}

export interface RateReading {
  readonly block: BlockRef;
  /** Growth factor per second in ray. */
  readonly rates: Readings<Address, bigint>;
}

/** What warmers read from one chain. */
export interface ChainReader {
  readonly chainId: ChainId;
  /**
   * Read the state of markets and their oracles' values, all at one block: 3 requests, and one more per 4 MB of calls beyond
   * the first 4 of each round (some 3,000 markets).
   * @throws ChainReadError when the chain gives no usable answer at all
   */
  readLendingState(markets: readonly Market[], options?: ReadOptions): Promise<LendingReading>;
  /** Read the savings rates of tokens that publish one. 2 requests. @throws ChainReadError */
  readOnchainRates(tokens: readonly Token[], options?: ReadOptions): Promise<RateReading>;
}

export interface ChainReaderDeps {
  readonly client: ChainClient;
  readonly chain: Pick<Chain, 'chainId' | 'contracts'>;
  readonly maxCalldataBytes?: number;
  /** How plans and answers are worked through in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

/** Create the reader of one chain. */
export function createChainReader(deps: ChainReaderDeps): ChainReader {
  const { client, chain, maxCalldataBytes, slicing = betweenEvents } = deps;
  const { chainId, contracts } = chain;
  const executor = createExecutor({
    client,
    chainId,
    multicall3: contracts.multicall3,
    slicing,
    ...(maxCalldataBytes === undefined ? {} : { maxCalldataBytes }),
  });
  return {
    chainId,
    readLendingState: async (markets, options) => {
      const blockNumber = await executor.latestBlock(options);
      const questions = await runInSlices(planStoredState(contracts.morphoBlue, markets), slicing);
      const first = await executor.execute(questions, blockNumber, options);
      const stored = await runInSlices(foldStoredState(markets, first.results, first.block), slicing);
      const more = await runInSlices(planBorrowRates(stored.markets), slicing);
      const second = await executor.execute(more, blockNumber, options);
      // The same number with another time is another block: the chain was reorganized between the rounds.
      if (second.block.timestamp !== first.block.timestamp) throw new ChainReadError('implausible');
      return {
        block: first.block,
        lending: await runInSlices(foldLendingState(stored, second.results, first.block), slicing),
        oracle: stored.oracle,
      };
    },
    readOnchainRates: async (tokens, options) => {
      const rated = tokens.filter(isRated);
      const unrated = tokens.filter((token) => !isRated(token));
      const { block, results } = await executor.execute(
        planOnchainRates(rated),
        await executor.latestBlock(options),
        options,
      );
      const { values, failures } = foldOnchainRates(rated, results);
      const missing = unrated.map((token) => [token.address, 'not_configured'] as const);
      return { block, rates: { values, failures: new Map([...failures, ...missing]) } };
    },
  };
}

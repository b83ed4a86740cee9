import type { Chain, Market, Token } from '../catalog/types.ts';
import type { LendingState, OraclePrice } from '../domain/facts.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';
import { betweenEvents, runInSlices, type Slicing } from '../shared/slices.ts';
import type { ChainClient } from './client.ts';
import { createExecutor } from './execute.ts';
import { createLens } from './lens.ts';
import { foldLendingState, planLendingState } from './plans/lending-state.ts';
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
   * Read the state of markets and their oracles' values, all at one block. 2 requests for up to 50,000 markets, and one more
   * for every further 50,000.
   * @throws ChainReadError when the chain gives no usable answer at all
   */
  readLendingState(markets: readonly Market[], options?: ReadOptions): Promise<LendingReading>;
  /** Read the savings rates of tokens that publish one. 2 requests. @throws ChainReadError */
  readOnchainRates(tokens: readonly Token[], options?: ReadOptions): Promise<RateReading>;
}

export interface ChainReaderDeps {
  readonly client: ChainClient;
  readonly chain: Pick<Chain, 'chainId' | 'contracts'>;
  /** Markets that one call reads; default 100. */
  readonly marketsPerCall?: number;
  /** How plans and answers are worked through in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

/** Create the reader of one chain. */
export function createChainReader(deps: ChainReaderDeps): ChainReader {
  const { client, chain, marketsPerCall, slicing = betweenEvents } = deps;
  const { chainId, contracts } = chain;
  const executor = createExecutor({ client, chainId, multicall3: contracts.multicall3, slicing });
  const askLens = createLens({ client, chainId, slicing });
  return {
    chainId,
    readLendingState: async (markets, options) => {
      const blockNumber = await executor.latestBlock(options);
      // All are written before the first is sent: what is sent in one turn is one request.
      const questions = await runInSlices(planLendingState(contracts.morphoBlue, markets, marketsPerCall), slicing);
      const { block, results } = await askLens(questions, blockNumber, options);
      return { block, ...(await runInSlices(foldLendingState(questions, results, block), slicing)) };
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

import type { Chain, Market, Token } from '../catalog/types.ts';
import type { TokenContract } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import { betweenEvents, type Slicing } from '../shared/slices.ts';
import { createExecutor } from './execute.ts';
import { createMarketReading, type LendingReading } from './markets.ts';
import {
  type CodeAnswers,
  codeAddresses,
  type DeploymentReadings,
  foldDeploymentFacts,
  planDeploymentFacts,
} from './plans/deployment.ts';
import { foldOnchainRates, isRated, planOnchainRates } from './plans/onchain-rates.ts';
import { foldTokenContracts, planTokenContracts } from './plans/token-contracts.ts';
import type { Reading } from './reading.ts';
import { ChainReadError, toChainReadError } from './rpc/errors.ts';
import { createIsolatingExecutor } from './rpc/isolate.ts';
import type { ChainNodes } from './rpc/nodes.ts';
import type { BlockRef, Readings, ReadOptions } from './types.ts';

export type { LendingReading } from './markets.ts';

export interface RateReading {
  readonly block: BlockRef;
  /** Growth factor per second in ray. */
  readonly rates: Readings<Address, bigint>;
}

export interface DeploymentReading extends DeploymentReadings {
  readonly block: BlockRef;
  readonly tokenContract: Readings<Address, TokenContract>;
}

/** What warmers read from one chain. */
export interface ChainReader {
  readonly chainId: ChainId;
  /**
   * Read the state of markets, their oracles' values and when the feeds behind those were updated, all at one block.
   * 2 requests for up to 25,000 markets, and one more for every further 25,000.
   * @throws ChainReadError when the chain gives no usable answer at all
   */
  readLendingState(markets: readonly Market[], options?: ReadOptions): Promise<LendingReading>;
  /** Read the savings rates of tokens that publish one. 2 requests. @throws ChainReadError */
  readOnchainRates(tokens: readonly Token[], options?: ReadOptions): Promise<RateReading>;
  /**
   * Read what the deployed contract says of itself and of its markets, the lending protocol of the markets, and the tokens of
   * themselves, at one block. 2 requests. @throws ChainReadError
   */
  readDeployment(chain: Chain, options?: ReadOptions): Promise<DeploymentReading>;
}

export interface ChainReaderDeps {
  readonly nodes: ChainNodes;
  readonly chain: Pick<Chain, 'chainId' | 'contracts'>;
  readonly clock: Clock;
  /** Markets that one call reads; default 100. */
  readonly marketsPerCall?: number;
  /** How plans and answers are worked through in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

/** Create the reader of one chain. */
export function createChainReader(deps: ChainReaderDeps): ChainReader {
  const { nodes, chain, clock, slicing = betweenEvents } = deps;
  const { chainId, contracts } = chain;
  const executor = createExecutor({ chainId, multicall3: contracts.multicall3, clock, slicing });
  const readMarkets = createMarketReading(deps);
  // What belongs to somebody else may burn the gas of a whole call, or answer with megabytes: it harms nobody else.
  const isolating = createIsolatingExecutor({ chainId, multicall3: contracts.multicall3, clock, slicing });
  return {
    chainId,
    readDeployment: (deployed, options) =>
      nodes.read(async (reading) => {
        const plan = planDeploymentFacts(deployed);
        const [{ block, results }, code] = await Promise.all([
          isolating.execute(reading, [...plan, ...planTokenContracts(deployed)], options),
          readCode(reading, codeAddresses(deployed), options),
        ]);
        return {
          block,
          ...foldDeploymentFacts(deployed, results.slice(0, plan.length), code),
          tokenContract: foldTokenContracts(deployed, results.slice(plan.length)),
        };
      }, options),
    readLendingState: (markets, options) => nodes.read((reading) => readMarkets(reading, markets, options), options),
    readOnchainRates: async (tokens, options) => {
      const rated = tokens.filter(isRated);
      const unrated = tokens.filter((token) => !isRated(token));
      const { block, results } = await nodes.read(
        (reading) => executor.execute(reading, planOnchainRates(rated), options),
        options,
      );
      const { values, failures } = foldOnchainRates(rated, results);
      const missing = unrated.map((token) => [token.address, 'not_configured'] as const);
      return { block, rates: { values, failures: new Map([...failures, ...missing]) } };
    },
  };
}

/** Ask which addresses have code, in the batch of what is read beside it. @throws ChainReadError */
async function readCode(
  { client, at }: Reading,
  addresses: readonly Address[],
  { signal }: ReadOptions = {},
): Promise<CodeAnswers> {
  const ask = async (address: Address) => {
    const code: unknown = await client.request(
      { method: 'eth_getCode', params: [address, at] },
      signal ? { signal } : {},
    );
    if (typeof code !== 'string') throw new ChainReadError('malformed');
    return [address, code !== '0x'] as const;
  };
  try {
    return new Map(await Promise.all(addresses.map(ask)));
  } catch (error) {
    throw toChainReadError(error, signal);
  }
}

import type { Chain, Market, Token } from '../catalog/types.ts';
import type { TokenContract } from '../domain/deployment/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId } from '../shared/ids.ts';
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
import { createReadAt } from './read-at.ts';
import type { Reading } from './reading.ts';
import { ChainReadError, toChainReadError } from './rpc/errors.ts';
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

/** Reads of one chain for the warmers. */
export interface ChainReader {
  readonly chainId: ChainId;
  /**
   * Read the state of markets, their oracles' values and the update times of the feeds behind those, at one block. One
   * request, and 2 more per hundred markets.
   * @throws ChainReadError when the chain gives no usable answer
   */
  readLendingState(markets: readonly Market[], options?: ReadOptions): Promise<LendingReading>;
  /**
   * Read the savings rates of tokens that publish one. 2 requests.
   * @throws ChainReadError
   */
  readOnchainRates(tokens: readonly Token[], options?: ReadOptions): Promise<RateReading>;
  /**
   * Read the deployed contract and its terms for the markets, the markets in the lending protocol, and the token contracts, at
   * one block. 2 requests.
   * @throws ChainReadError
   */
  readDeployment(chain: Chain, options?: ReadOptions): Promise<DeploymentReading>;
}

export interface ChainReaderDeps {
  readonly nodes: ChainNodes;
  readonly chain: Pick<Chain, 'chainId' | 'contracts'>;
  readonly clock: Clock;
}

export function createChainReader({ nodes, chain, clock }: ChainReaderDeps): ChainReader {
  const { chainId, contracts } = chain;
  const readAt = createReadAt({ chainId, multicall3: contracts.multicall3, clock });
  const readMarkets = createMarketReading(chain, readAt);
  return {
    chainId,
    readDeployment: (deployed, options) =>
      nodes.read(async (reading) => {
        const plan = planDeploymentFacts(deployed);
        const [{ block, results }, code] = await Promise.all([
          // Foreign token contracts may burn the gas of a whole call or return megabytes, so their calls are isolated.
          readAt(reading, [...plan, ...planTokenContracts(deployed)], { ...options, isolate: true }),
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
        (reading) => readAt(reading, planOnchainRates(rated), options),
        options,
      );
      const { values, failures } = foldOnchainRates(rated, results);
      const missing = unrated.map((token) => [token.address, 'not_configured'] as const);
      return { block, rates: { values, failures: new Map([...failures, ...missing]) } };
    },
  };
}

/**
 * Read which addresses have code, in the batch of the other reads.
 * @throws ChainReadError
 */
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

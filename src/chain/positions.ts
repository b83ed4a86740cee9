import { type Hex, numberToHex } from 'viem';
import type { Chain } from '../catalog/types.ts';
import type { WalletHoldings } from '../domain/position/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import type { ChainClient } from './client.ts';
import { ChainReadError, toChainReadError } from './errors.ts';
import { createIsolatingExecutor } from './isolate.ts';
import { foldHoldings, foldPositionArrays, holdingsOf, planHoldings, planPositionArrays } from './plans/positions.ts';
import { foldProxyOwners, type ProxyOwners, planProxyOwners } from './plans/wallets.ts';
import type { BlockRef, Readings, ReadOptions } from './types.ts';

/** What FlashLeverage has created so far. */
export interface ProxyHead {
  readonly blockNumber: bigint;
  /** Nonces 1 … `proxyCount` were used; the first made the implementation. */
  readonly proxyCount: number;
  /** Tells one chain from another that has the same id (a local chain started anew); `null` = the node does not keep it. */
  readonly genesisHash: Hex | null;
}

export interface HoldingsReading {
  readonly block: BlockRef;
  /** By the wallets as they were asked. */
  readonly wallets: Readings<Address, WalletHoldings>;
}

export interface HoldingsOptions extends ReadOptions {
  /** Read at this block; the newest one when left out, which takes one request more. */
  readonly blockNumber?: bigint;
  /** Leave the stock legs of equity vaults out. */
  readonly positionsOnly?: boolean;
}

/**
 * Reads wallets and their positions on one chain, thousands of them in a constant number of requests. A round beyond 4 MB of
 * calls (some 7,000 positions) takes one more.
 */
export interface PositionReader {
  readonly chainId: ChainId;
  /** Ask how many contracts FlashLeverage has created. 2 requests. @throws ChainReadError */
  readProxyHead(options?: ReadOptions): Promise<ProxyHead>;
  /** Read the owners of created contracts at one block. 1 request, 2 when a call breaks its multicall. @throws ChainReadError */
  readProxyOwners(nonces: readonly number[], blockNumber: bigint, options?: ReadOptions): Promise<ProxyOwners>;
  /**
   * Read what wallets hold, all at one block: their positions with the collateral and debt of each proxy, and their stock
   * legs. 2 requests, one more without a block number, each doubled when a call breaks its multicall. A wallet that
   * cannot be read fails alone.
   * @throws ChainReadError when the chain gives no usable answer at all
   */
  readHoldings(wallets: readonly Address[], options?: HoldingsOptions): Promise<HoldingsReading>;
}

export interface PositionReaderDeps {
  readonly client: ChainClient;
  readonly chain: Pick<Chain, 'chainId' | 'contracts' | 'equityVaults'>;
  readonly clock: Clock;
}

/** An array of positions takes five storage slots each to read: about 64 wallets share one multicall's gas. */
const ARRAYS_CALLDATA_BYTES = 16 * 1024;

/** Create the reader of one chain's positions. */
export function createPositionReader({ client, chain, clock }: PositionReaderDeps): PositionReader {
  const { chainId, contracts } = chain;
  const deps = { client, chainId, multicall3: contracts.multicall3, clock };
  const executor = createIsolatingExecutor(deps);
  const arrayExecutor = createIsolatingExecutor({ ...deps, maxCalldataBytes: ARRAYS_CALLDATA_BYTES });
  const allStockMarkets = chain.equityVaults.map(({ stockMarket }) => stockMarket.id);

  return {
    chainId,
    readProxyHead: async (options = {}) => {
      const { signal } = options;
      const [blockNumber, genesisHash] = await Promise.all([
        executor.latestBlock(options),
        client
          .request({ method: 'eth_getBlockByNumber', params: ['0x0', false] }, signal ? { signal } : {})
          .then((block) => block?.hash ?? null)
          .catch(() => null),
      ]);
      const nonce = await client
        .request(
          { method: 'eth_getTransactionCount', params: [contracts.flashLeverage, numberToHex(blockNumber)] },
          signal ? { signal } : {},
        )
        .catch((error: unknown) => {
          throw toChainReadError(error, signal);
        });
      return { blockNumber, genesisHash, proxyCount: Math.max(0, Number(BigInt(nonce)) - 1) };
    },
    readProxyOwners: async (nonces, blockNumber, options) => {
      if (nonces.length === 0) return foldProxyOwners(contracts.flashLeverage, [], []);
      const { results } = await executor.execute(
        planProxyOwners(contracts.flashLeverage, nonces),
        blockNumber,
        options,
      );
      return foldProxyOwners(contracts.flashLeverage, nonces, results);
    },
    readHoldings: async (wallets, options = {}) => {
      const stockMarkets = options.positionsOnly ? [] : allStockMarkets;
      const blockNumber = options.blockNumber ?? (await executor.latestBlock(options));
      const first = await arrayExecutor.execute(
        planPositionArrays(contracts.flashLeverage, wallets),
        blockNumber,
        options,
      );
      const arrays = foldPositionArrays(wallets, first.results);
      const calls = planHoldings(contracts.morphoBlue, holdingsOf(arrays.values, stockMarkets));
      const second = calls.length === 0 ? first : await executor.execute(calls, blockNumber, options);
      // The same number with another time is another block: the chain was reorganized between the rounds.
      if (second.block.timestamp !== first.block.timestamp) throw new ChainReadError('implausible');
      const results = calls.length === 0 ? [] : second.results;
      return { block: first.block, wallets: foldHoldings(chainId, arrays, stockMarkets, results, first.block) };
    },
  };
}

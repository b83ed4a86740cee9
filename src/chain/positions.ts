import type { Hex } from 'viem';
import type { Chain, Market } from '../catalog/types.ts';
import type { WalletHoldings } from '../domain/position/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';
import { createMarketReading, type LendingReading } from './markets.ts';
import {
  foldHoldings,
  foldPositionArrays,
  type Holding,
  holdingsOf,
  type PositionArray,
  planHoldings,
  planPermissions,
  planPositionArrays,
} from './plans/positions.ts';
import { foldProxyOwners, type ProxyOwners, planProxyOwners } from './plans/wallets.ts';
import { createReadAt } from './read-at.ts';
import type { NamedBlock } from './reading.ts';
import { ChainReadError, toChainReadError } from './rpc/errors.ts';
import type { ChainNodes } from './rpc/nodes.ts';
import type { BlockRef, CallResult, Readings, ReadOptions } from './types.ts';

/** The contracts that FlashLeverage has created so far. */
export interface ProxyHead {
  /** Block of further reads, so that all are of one block. */
  readonly block: NamedBlock;
  /** Nonces 1 … `proxyCount` are used; nonce 1 is the implementation. */
  readonly proxyCount: number;
  /** Number of them in final blocks; 0 when the node does not report it. */
  readonly finalCount: number;
  /** Distinguishes chains of the same id (a local chain that was started anew); `null` = the node does not have the block. */
  readonly genesisHash: Hex | null;
}

export interface HoldingsReading {
  readonly block: BlockRef;
  /** By requested wallet. */
  readonly wallets: Readings<Address, WalletHoldings>;
}

export interface HoldingsOptions extends ReadOptions {
  /** Block to read at; absent: the newest one, which takes one request more. */
  readonly block?: NamedBlock | undefined;
  /** Leave out the stock legs of equity vaults and the markets, for valuations with known market values. */
  readonly positionsOnly?: boolean | undefined;
}

/**
 * Reads wallets and their positions on one chain: thousands of them in a constant number of requests, with one more per 6,000
 * positions.
 */
export interface PositionReader {
  readonly chainId: ChainId;
  /**
   * Read how many contracts FlashLeverage has created. 2 requests.
   * @throws ChainReadError
   */
  readProxyHead(options?: ReadOptions): Promise<ProxyHead>;
  /**
   * Read the owners of created contracts at one block. 1 request, 3 when a call breaks its multicall.
   * @throws ChainReadError
   */
  readProxyOwners(nonces: readonly number[], block: NamedBlock, options?: ReadOptions): Promise<ProxyOwners>;
  /**
   * Read the holdings of wallets at one block: positions with collateral and debt of each proxy, stock legs, and the markets
   * of all of these. 3 requests, one more without a block and some for many wallets, each tripled at most when a call breaks
   * its multicall. A wallet that cannot be read fails alone; markets that cannot be read are left out.
   * @throws ChainReadError when the chain gives no usable answer
   */
  readHoldings(wallets: readonly Address[], options?: HoldingsOptions): Promise<HoldingsReading>;
}

export interface PositionReaderDeps {
  readonly nodes: ChainNodes;
  readonly chain: Pick<Chain, 'chainId' | 'contracts' | 'equityVaults' | 'markets'>;
  readonly clock: Clock;
}

export function createPositionReader({ nodes, chain, clock }: PositionReaderDeps): PositionReader {
  const { chainId, contracts } = chain;
  const readAt = createReadAt({ chainId, multicall3: contracts.multicall3, clock });
  const readMarkets = createMarketReading(chain, readAt);
  const catalogMarkets = new Map(chain.markets.map((market) => [market.id, market]));
  const permittedRouters = contracts.equityRouter === undefined ? [] : [contracts.equityRouter];
  const allStockMarkets = chain.equityVaults.map(({ stockMarket }) => stockMarket.id);

  return {
    chainId,
    readProxyHead: (options = {}) =>
      nodes.read(async ({ client, block, at }) => {
        const { signal } = options;
        const given = signal ? { signal } : {};
        const [genesisHash, finalNonce, nonce] = await Promise.all([
          client
            .request({ method: 'eth_getBlockByNumber', params: ['0x0', false] }, given)
            .then((first) => first?.hash ?? null)
            .catch(() => null),
          client
            .request({ method: 'eth_getTransactionCount', params: [contracts.flashLeverage, 'finalized'] }, given)
            .catch(() => '0x0' as const),
          client
            .request({ method: 'eth_getTransactionCount', params: [contracts.flashLeverage, at] }, given)
            .catch((error: unknown) => {
              throw toChainReadError(error, signal);
            }),
        ]);
        return {
          block,
          genesisHash,
          proxyCount: Math.max(0, Number(BigInt(nonce)) - 1),
          finalCount: Math.max(0, Number(BigInt(finalNonce)) - 1),
        };
      }, options),
    readProxyOwners: async (nonces, block, options) => {
      const { flashLeverage } = contracts;
      if (nonces.length === 0) return foldProxyOwners(flashLeverage, [], []);
      const { results } = await nodes.read(
        (reading) => readAt(reading, planProxyOwners(flashLeverage, nonces), { ...options, isolate: true }),
        { ...options, block },
      );
      return foldProxyOwners(flashLeverage, nonces, results);
    },
    readHoldings: (wallets, options = {}) =>
      nodes.read(async (reading) => {
        const stockMarkets = options.positionsOnly ? [] : allStockMarkets;
        const isolated = { signal: options.signal, isolate: true };
        const first = await readAt(reading, planPositionArrays(contracts.flashLeverage, wallets), isolated);
        const arrays = foldPositionArrays(wallets, first.results);
        const holdings = holdingsOf(arrays.values, stockMarkets);
        const permissions = options.positionsOnly
          ? []
          : planPermissions(contracts.morphoBlue, arrays.values, permittedRouters);
        const calls = [...planHoldings(contracts.morphoBlue, holdings), ...permissions];
        if (calls.length === 0) return { block: first.block, wallets: fold(arrays, stockMarkets, [], first.block) };
        const [second, markets] = await Promise.all([
          readAt(reading, calls, isolated),
          options.positionsOnly ? null : orNull(readMarkets(reading, marketsOf(holdings), options)),
        ]);
        const held = second.results.slice(0, holdings.length);
        const permitted = options.positionsOnly ? undefined : second.results.slice(holdings.length);
        return { block: first.block, wallets: fold(arrays, stockMarkets, held, first.block, markets, permitted) };
      }, options),
  };

  function fold(
    arrays: Readings<Address, PositionArray>,
    stockMarkets: readonly MarketId[],
    results: readonly CallResult[],
    block: BlockRef,
    reading: LendingReading | null = null,
    permitted: readonly CallResult[] | undefined = [],
  ): Readings<Address, WalletHoldings> {
    const { timestamp } = block;
    const markets = reading && { timestamp, lending: reading.lending.values, oracle: reading.oracle.values };
    const shared = { chainId, block, markets: markets ?? undefined };
    const permissions = permitted && { routers: permittedRouters, results: permitted };
    return foldHoldings(shared, arrays, stockMarkets, results, permissions);
  }

  function marketsOf(holdings: readonly Holding[]): readonly Market[] {
    const ids = new Set(holdings.map(({ marketId }) => marketId));
    return [...ids].flatMap((id) => catalogMarkets.get(id) ?? []);
  }
}

/** Without markets at the block, positions are valued with the last-good market values. */
async function orNull(reading: Promise<LendingReading>): Promise<LendingReading | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ChainReadError) return null;
    throw error;
  }
}

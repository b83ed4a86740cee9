import { LRUCache } from 'lru-cache';
import type { ChainId } from '../shared/ids.ts';
import type { ChainNodes } from './rpc/nodes.ts';

/** One block of Ethereum: a venue weighs routes by gas, and a slightly older price changes no route. */
const TTL_MS = 12_000;
/** 100,000 gwei, twenty times the highest price on Ethereum so far: a higher answer is implausible. */
const MAX_PLAUSIBLE_WEI = 100_000n * 10n ** 9n;

/**
 * Create the reader of gas prices in wei: `eth_gasPrice`, cached for one block. Returns `undefined` when the node gives no
 * plausible answer.
 */
export function createGasPrices(
  nodes: ReadonlyMap<ChainId, ChainNodes>,
): (chainId: ChainId) => Promise<bigint | undefined> {
  const prices = new LRUCache<ChainId, bigint>({
    max: Math.max(1, nodes.size),
    ttl: TTL_MS,
    fetchMethod: async (chainId) => {
      const price = await nodes.get(chainId)?.read(({ client }) => client.getGasPrice());
      return price !== undefined && price > 0n && price <= MAX_PLAUSIBLE_WEI ? price : undefined;
    },
  });
  return (chainId) => prices.fetch(chainId).catch(() => undefined);
}

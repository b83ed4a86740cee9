import {
  type Address,
  createTestClient,
  defineChain,
  type HttpTransport,
  http,
  type PublicActions,
  publicActions,
  type TestClient,
  type Chain as ViemChain,
} from 'viem';

export type DevnetClient = TestClient<'anvil', HttpTransport, ViemChain> & PublicActions<HttpTransport, ViemChain>;

/** Create the client of a local chain. Calls made in one tick travel as one request; anvil may run them in any order. */
export function createDevnetClient(chainId: number, rpcUrl: string, multicall3: Address): DevnetClient {
  const chain = defineChain({
    id: chainId,
    name: `Local chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: multicall3 } },
  });
  const transport = http(rpcUrl, { batch: { batchSize: 500 }, timeout: 30_000, retryCount: 0 });
  return createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 10, cacheTime: 0 }).extend(publicActions);
}

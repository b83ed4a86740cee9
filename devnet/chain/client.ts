import {
  type Address,
  type CustomTransport,
  createTestClient,
  defineChain,
  type PublicActions,
  publicActions,
  type TestClient,
  type Chain as ViemChain,
} from 'viem';
import { localTransport } from './transport.ts';

export type DevnetClient = TestClient<'anvil', CustomTransport, ViemChain> & PublicActions<CustomTransport, ViemChain>;

/** Create the client of a local chain. Calls made in one tick travel as one request; anvil may run them in any order. */
export function createDevnetClient(chainId: number, rpcUrl: string, multicall3: Address): DevnetClient {
  const chain = defineChain({
    id: chainId,
    name: `Local chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: multicall3 } },
  });
  const transport = localTransport(rpcUrl);
  return createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 10, cacheTime: 0 }).extend(publicActions);
}

import type { World } from './world.ts';

/** A provider as browsers inject it (EIP-1193), with the development accounts of the local chains. */
export interface DevelopmentWallet {
  request(args: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
  /** Choose the account that the wallet shows to apps. */
  choose(account: string): void;
}

/** Error of a provider: `code` as in EIP-1193 and EIP-1474. */
class ProviderError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const UNSUPPORTED = 4200;
const UNKNOWN_CHAIN = 4902;
/** Create a wallet that signs at once: the local nodes hold the keys of their development accounts. */
export function createDevelopmentWallet(world: World): DevelopmentWallet {
  let account = world.accounts[0] ?? '';
  let chain = world.chains[0];
  let id = 0;

  const node = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    if (chain === undefined) throw new ProviderError(UNKNOWN_CHAIN, 'The local world has no chain.');
    id += 1;
    const response = await fetch(chain.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    });
    if (!response.ok) throw new ProviderError(UNSUPPORTED, await response.text());
    const { result, error } = await response.json();
    if (error) throw new ProviderError(error.code, error.message);
    return result;
  };

  return {
    choose(next) {
      account = next;
    },
    async request({ method, params = [] }) {
      switch (method) {
        case 'eth_requestAccounts':
        case 'eth_accounts':
          return [account];
        case 'wallet_switchEthereumChain': {
          const wanted = Number((params[0] as { chainId: string }).chainId);
          const next = world.chains.find(({ chainId }) => chainId === wanted);
          if (next === undefined) throw new ProviderError(UNKNOWN_CHAIN, `Chain ${wanted} is not in the local world.`);
          chain = next;
          return null;
        }
        case 'eth_sendTransaction': {
          const { from } = params[0] as { from?: string };
          if (from?.toLowerCase() !== account.toLowerCase()) {
            throw new ProviderError(4100, `The wallet shows ${account} and does not sign for ${from}.`);
          }
          return node(method, params);
        }
        case 'wallet_getCapabilities':
        case 'wallet_sendCalls':
        case 'wallet_getCallsStatus':
          throw new ProviderError(UNSUPPORTED, `The wallet does not support ${method}.`);
        default:
          // The relay to the node passes the methods that a wallet needs, and refuses the rest.
          return node(method, params);
      }
    },
  };
}

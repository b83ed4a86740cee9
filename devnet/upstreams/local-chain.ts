import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  erc20Abi,
  type Hex,
  zeroAddress,
} from 'viem';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import type { Chain } from '../../src/catalog/index.ts';
import { swapVenueAbi } from '../abi/swap-venue.ts';
import { localTransport } from '../chain/transport.ts';
import { createLendingReader, type LendingReader } from './lending-reader.ts';

/** Address of the native token at aggregators. */
export const NATIVE_PLACEHOLDER = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE';

/** Beyond a price impact of 10 % an aggregator finds no route. */
const MAX_ROUTE_IMPACT_BPS = 1_000n;

export interface VenueQuote {
  /** Current output for the input less the referral fee. */
  readonly amountOut: bigint;
  readonly impactBps: bigint;
}

export interface VenueSwap {
  readonly router: Address;
  /** The zero address is the native token. */
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
  /** Referral fee taken from the input, basis points. */
  readonly feeBps: bigint;
}

/** The part of a local chain that the simulated providers read. */
export interface LocalChain {
  /** Ask the swap venue at `router`. `null` = no route: it does not trade the pair, or not at that size. */
  quote(swap: VenueSwap): Promise<VenueQuote | null>;
  /** USD (1e18) per whole token at the venue; zero or missing = it does not trade the token. */
  venuePrices(router: Address, tokens: readonly Address[]): Promise<ReadonlyMap<Address, bigint>>;
  readonly lending: LendingReader;
}

/** Calldata of a swap that the venue executes for any caller. */
export function swapCalldata(swap: VenueSwap, minOut: bigint, recipient: Address, feeReceiver: Address): Hex {
  const { tokenIn, tokenOut, amountIn, feeBps } = swap;
  return feeBps === 0n
    ? encodeFunctionData({
        abi: swapVenueAbi,
        functionName: 'swap',
        args: [tokenIn, tokenOut, amountIn, minOut, recipient],
      })
    : encodeFunctionData({
        abi: swapVenueAbi,
        functionName: 'swapWithFee',
        args: [tokenIn, tokenOut, amountIn, minOut, recipient, feeBps, feeReceiver],
      });
}

/** Read a local chain over its RPC. `vaults`: the lending vaults that its public allocator may shift. */
export function connectLocalChain(chain: Chain, rpcUrl: string, vaults: readonly Address[]): LocalChain {
  const client = createPublicClient({ transport: localTransport(rpcUrl), cacheTime: 0 });

  async function stockOf(token: Address, holder: Address): Promise<bigint> {
    if (token === zeroAddress) return client.getBalance({ address: holder });
    return client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
  }

  return {
    async quote({ router, tokenIn, tokenOut, amountIn, feeBps }) {
      const sold = amountIn - (amountIn * feeBps) / 10_000n;
      if (sold === 0n) return null;
      const [quoted, stock] = await Promise.all([
        client
          .readContract({
            address: router,
            abi: swapVenueAbi,
            functionName: 'quote',
            args: [tokenIn, tokenOut, sold],
          })
          .catch(nullWhenReverted),
        stockOf(tokenOut, router),
      ]);
      if (quoted === null) return null;
      const [amountOut, impactBps] = quoted;
      if (amountOut === 0n || amountOut > stock || impactBps > MAX_ROUTE_IMPACT_BPS) return null;
      return { amountOut, impactBps };
    },

    async venuePrices(router, tokens) {
      const prices = await Promise.all(
        tokens.map(async (token) => {
          const price = await client
            .readContract({ address: router, abi: swapVenueAbi, functionName: 'priceOf', args: [token] })
            .catch(() => 0n); // no venue there: the caller has seeds
          return [token, price] as const;
        }),
      );
      return new Map(prices);
    },

    lending: createLendingReader(client, chain, vaults),
  };
}

/** A venue that reverts has no route; an unreachable one is a fault of the world and stays an error. */
function nullWhenReverted(error: unknown): null {
  const revert = error instanceof BaseError && error.walk((e) => e instanceof ContractFunctionRevertedError);
  if (revert) return null;
  throw error;
}

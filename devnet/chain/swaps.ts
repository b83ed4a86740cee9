import type { Address, Hex } from 'viem';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import type { Chain } from '../../src/catalog/index.ts';
import { swapVenueAbi } from '../abi/swap-venue.ts';
import type { DevnetClient } from './client.ts';

export interface PlannedSwap {
  readonly swapData: { readonly extRouter: Address; readonly extCalldata: Hex };
  readonly amountOut: bigint;
  /** `amountOut` less the tolerance. */
  readonly minOut: bigint;
}

const TOLERANCE_BPS = 50n;

/** Name the venue that serves every pair of the chain. @throws Error when the catalog lists none */
export function mainVenue(chain: Chain): Address {
  const [address] = chain.swapRouters.AggregatorOne ?? [];
  if (address === undefined) throw new Error(`The catalog names no AggregatorOne router on chain ${chain.chainId}`);
  return address;
}

/** Quote a swap at the chain's main venue and build its calldata; 0.5 % below the quote is accepted. */
export async function planSwap(
  chain: Chain,
  client: DevnetClient,
  tokenIn: Address,
  tokenOut: Address,
  amountIn: bigint,
  recipient: Address,
): Promise<PlannedSwap> {
  const extRouter = mainVenue(chain);
  const [amountOut] = await client.readContract({
    address: extRouter,
    abi: swapVenueAbi,
    functionName: 'quote',
    args: [tokenIn, tokenOut, amountIn],
  });
  const minOut = (amountOut * (10_000n - TOLERANCE_BPS)) / 10_000n;
  const extCalldata = encodeFunctionData({
    abi: swapVenueAbi,
    functionName: 'swap',
    args: [tokenIn, tokenOut, amountIn, minOut, recipient],
  });
  return { swapData: { extRouter, extCalldata }, amountOut, minOut };
}

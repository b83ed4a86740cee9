import type { Address } from 'viem';
import type { Chain, SwapSource, Token } from '../../src/catalog/index.ts';
import { type Decimal, fromUnits } from '../../src/shared/decimal.ts';
import { NATIVE_PLACEHOLDER, type VenueQuote, type VenueSwap } from './local-chain.ts';
import type { World } from './types.ts';

export interface PricedQuote extends VenueQuote {
  readonly swap: VenueSwap;
  readonly amountInUsd: Decimal;
  readonly amountOutUsd: Decimal;
  readonly usdIn: Decimal;
  readonly usdOut: Decimal;
}

/** Name the router at which a source's swaps execute. */
function routerOf(chain: Chain, source: SwapSource): Address | undefined {
  return chain.swapRouters[source]?.[0];
}

/** Ask a source's venue on chain, and value both sides. `null` = no route. */
export async function quoteSwap(
  world: World,
  chain: Chain,
  source: SwapSource,
  sides: {
    readonly tokenIn: Token;
    readonly tokenOut: Token;
    readonly amountIn: bigint;
    /** Referral fee, basis points of the input. */
    readonly feeBps: bigint;
  },
): Promise<PricedQuote | null> {
  const { tokenIn, tokenOut, amountIn, feeBps } = sides;
  const router = routerOf(chain, source);
  if (router === undefined || tokenIn.noSwapRoute || tokenOut.noSwapRoute || tokenIn === tokenOut) return null;
  const swap: VenueSwap = { router, tokenIn: tokenIn.address, tokenOut: tokenOut.address, amountIn, feeBps };
  const [quote, prices] = await Promise.all([
    world.chain(chain.chainId).quote(swap),
    world.pricesUsd([tokenIn, tokenOut]),
  ]);
  const usdIn = prices.get(tokenIn);
  const usdOut = prices.get(tokenOut);
  if (quote === null || usdIn === undefined || usdOut === undefined) return null;
  return {
    ...quote,
    swap,
    usdIn,
    usdOut,
    amountInUsd: fromUnits(amountIn, tokenIn.decimals).times(usdIn),
    amountOutUsd: fromUnits(quote.amountOut, tokenOut.decimals).times(usdOut),
  };
}

/** Write a token as aggregators do: the native one as the placeholder. */
export function displayAddress(token: Token): string {
  return token.isNative ? NATIVE_PLACEHOLDER : token.address;
}

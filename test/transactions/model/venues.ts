import type { Chain, Token } from '../../../src/catalog/types.ts';
import { UpstreamUnavailableError } from '../../../src/shared/errors.ts';
import type { Address, Hex } from '../../../src/shared/ids.ts';
import type { SwapQuote, SwapQuotePort, SwapRequest } from '../../../src/upstreams/types.ts';

type Source = SwapQuote['source'];

/** How a venue of the model lies about a swap. Shares are millionths of the output. */
export interface ModelLie {
  /** Its quote for a possible output, base units. */
  readonly quoted: (fair: bigint, amountIn: bigint) => bigint;
  /** Its output in simulation, and on the chain. */
  readonly simulated: (fair: bigint, quoted: bigint) => bigint;
  readonly onChain: (fair: bigint, quoted: bigint) => bigint;
  /** It does not answer. */
  readonly isDead?: boolean;
}

/** The output of a swap. */
export interface ModelFill {
  readonly tokenOut: Address;
  readonly router: Address;
  readonly simulated: bigint;
  readonly onChain: bigint;
}

export interface ModelVenues {
  readonly ports: readonly SwapQuotePort[];
  /** The output of the swap of some calldata. */
  fillOf(calldata: Hex): ModelFill;
}

export interface ModelVenuesInput {
  readonly chain: Chain;
  readonly sources: readonly Source[];
  /** The output of an honest venue, base units. */
  readonly fair: (tokenIn: Token, tokenOut: Token, amountIn: bigint) => bigint;
  /** How a source lies about a swap; `undefined` = it is honest. */
  readonly lieOf: (source: Source, swap: SwapRequest) => ModelLie | undefined;
  readonly expiresAtMs: number;
}

/** Create the venues of a model: their calldata gives their quotes, except for their lies. */
export function modelVenues({ chain, sources, fair, lieOf, expiresAtMs }: ModelVenuesInput): ModelVenues {
  const fills = new Map<Hex, ModelFill>();
  const tokens = new Map(chain.tokens.map((token) => [token.address, token]));
  const tokenOf = (address: Address): Token => tokens.get(address) as Token;
  const ports = sources.map((source): SwapQuotePort => {
    const router = chain.swapRouters[source]?.[0] as Address;
    return {
      source,
      serves: () => true,
      async quote(request) {
        const { tokenIn, tokenOut, amountIn, feeBps } = request;
        const lie = lieOf(source, request);
        if (lie?.isDead) throw new UpstreamUnavailableError(source, 'server_error');
        // No venue is as good as another.
        const cost = source === 'AggregatorTwo' ? 9_997n : 9_995n;
        const given = (fair(tokenOf(tokenIn), tokenOf(tokenOut), amountIn) * (cost - BigInt(feeBps))) / 10_000n;
        const amountOut = lie ? lie.quoted(given, amountIn) : given;
        const calldata: Hex = `0x${(fills.size + 1).toString(16).padStart(8, '0')}`;
        fills.set(calldata, {
          tokenOut,
          router,
          simulated: lie ? lie.simulated(given, amountOut) : given,
          onChain: lie ? lie.onChain(given, amountOut) : given,
        });
        return { source, amountIn, amountOut, feeBps, router, calldata, value: 0n, expiresAtMs };
      },
    };
  });
  return {
    ports,
    fillOf(calldata) {
      const fill = fills.get(calldata);
      if (!fill) throw new Error(`no venue handed ${calldata} out`);
      return fill;
    },
  };
}

import type { Catalog, Chain, Market } from '../../src/catalog/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { createGeckoterminal } from '../../src/upstreams/geckoterminal/client.ts';
import type { AdapterDeps } from '../../src/upstreams/http.ts';
import { createKyberswap } from '../../src/upstreams/kyberswap/client.ts';
import { createOpenocean } from '../../src/upstreams/openocean/client.ts';
import { createPendle } from '../../src/upstreams/pendle/client.ts';
import type { SwapQuotePort, SwapRequest } from '../../src/upstreams/types.ts';
import { optional, single } from './outcome.ts';
import type { ProviderSurface, SurfaceContext } from './types.ts';

const DAY = 86_400;
/** A thousand whole loan tokens: small enough for every pool, large enough that fixed costs do not matter. */
const WHOLE_TOKENS = 1_000n;
const SLIPPAGE = new Decimal('0.005');
/** The partner fee of most pairs. */
const FEE_BPS = 5;

/** Surfaces of swap venues and of the pool indexer, per chain. */
export function swapSurfaces(catalog: Catalog): readonly ProviderSurface[] {
  return catalog.chains.flatMap((chain) => {
    const { kyberswap, openocean, pendle, geckoterminal } = chain.providers;
    return [
      ...(kyberswap === undefined
        ? []
        : [route(chain), quote(chain, 'kyberswap', 'AggregatorOne', (deps) => createKyberswap(deps).quotes)]),
      ...(openocean === undefined ? [] : [quote(chain, 'openocean', 'AggregatorTwo', createOpenocean)]),
      ...(pendle === true ? [quote(chain, 'pendle', 'YieldMarket', (deps) => createPendle(deps).quotes)] : []),
      ...(geckoterminal === undefined ? [] : [pools(chain), candles(chain)]),
    ];
  });
}

/** The chain in the current catalog, which may include an overlay of the recording. */
function sameIn(catalog: Catalog, known: Chain): Chain {
  return catalog.chain(known.chainId) ?? known;
}

/** A market whose collateral trades at the venue: principal tokens at the yield market, others at aggregators. */
function marketFor(chain: Chain, nowMs: number, isPt: boolean): Market | undefined {
  return chain.markets.find(
    ({ kind, collateral }) =>
      kind === 'loop' &&
      collateral.isPt === isPt &&
      !collateral.noSwapRoute &&
      !(collateral.maturity && collateral.maturity * 1_000 <= nowMs),
  );
}

function amountOf({ loan }: Market): bigint {
  return WHOLE_TOKENS * 10n ** BigInt(loan.decimals);
}

function route(known: Chain): ProviderSurface {
  return {
    provider: 'kyberswap',
    name: 'route',
    chainId: known.chainId,
    publicName: 'AggregatorOne',
    timeFields: null,
    maxAgeSec: DAY,
    ask: async (deps, { catalog, nowMs }, signal) => {
      const chain = sameIn(catalog, known);
      const market = marketFor(chain, nowMs, false);
      if (!market) return undefined;
      const amountIn = amountOf(market);
      const quoteRequest = { chain, tokenIn: market.loan.address, tokenOut: market.collateral.address, amountIn };
      const found = await createKyberswap(deps).routes.route(quoteRequest, optional(signal));
      return single(
        pairOf(market),
        found,
        found ? [{ kind: 'quote', market, amountIn, amountOut: found.amountOut }] : [],
      );
    },
  };
}

function quote(
  known: Chain,
  provider: ProviderSurface['provider'],
  publicName: string,
  create: (deps: AdapterDeps) => SwapQuotePort,
): ProviderSurface {
  return {
    provider,
    name: 'quote',
    chainId: known.chainId,
    publicName,
    timeFields: null,
    maxAgeSec: DAY,
    ask: async (deps, context, signal) => {
      const chain = sameIn(context.catalog, known);
      const market = marketFor(chain, context.nowMs, publicName === 'YieldMarket');
      if (!market) return undefined;
      const request = requestFor(chain, market, context);
      const found = await create(deps).quote(request, optional(signal));
      const { amountIn } = request;
      return single(
        pairOf(market),
        found,
        found ? [{ kind: 'quote', market, amountIn, amountOut: found.amountOut }] : [],
      );
    },
  };
}

/** The request of a build: the deployed contract swaps and receives the output. */
function requestFor(chain: Chain, market: Market, { feeReceiver }: SurfaceContext): SwapRequest {
  return {
    chain,
    tokenIn: market.loan.address,
    tokenOut: market.collateral.address,
    amountIn: amountOf(market),
    sender: chain.contracts.flashLeverage,
    recipient: chain.contracts.flashLeverage,
    slippage: SLIPPAGE,
    feeBps: feeReceiver === undefined ? 0 : FEE_BPS,
    feeReceiver,
  };
}

function pairOf({ loan, collateral }: Market): string {
  return `${loan.symbol} to ${collateral.symbol}`;
}

/** The token in the most pools of a chain. */
function pooled(chain: Chain) {
  return chain.wrappedNative ?? chain.stable;
}

function pools(chain: Chain): ProviderSurface {
  return {
    provider: 'geckoterminal',
    name: 'pools',
    chainId: chain.chainId,
    publicName: 'geckoterminal',
    timeFields: null,
    maxAgeSec: DAY,
    ask: async (deps, _context, signal) => {
      const { address, symbol } = pooled(chain);
      return single(symbol, await createGeckoterminal(deps).deepestPool(chain, address, optional(signal)));
    },
  };
}

function candles(chain: Chain): ProviderSurface {
  return {
    provider: 'geckoterminal',
    name: 'candles',
    chainId: chain.chainId,
    publicName: 'geckoterminal',
    timeFields: [],
    maxAgeSec: 3 * DAY,
    ask: async (deps, _context, signal) => {
      const token = pooled(chain);
      const port = createGeckoterminal(deps);
      const pool = await port.deepestPool(chain, token.address, optional(signal));
      if (pool === null) return single(token.symbol, null);
      const query = { timeframe: 'day', aggregate: 1, limit: 30 } as const;
      const found = await port.candles(chain, pool, query, optional(signal));
      const last = found.candles.at(-1);
      return single(
        token.symbol,
        last === undefined ? null : found,
        last === undefined ? [] : [{ kind: 'price', token, usd: new Decimal(last.c) }],
      );
    },
  };
}

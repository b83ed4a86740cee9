import type { Chain, Token } from '../../../src/catalog/index.ts';
import { fromUnits } from '../../../src/shared/decimal.ts';
import { swapCalldata } from '../local-chain.ts';
import { displayAddress, type PricedQuote, quoteSwap } from '../quotes.ts';
import { addressOf, leastOut, matchPath, ok, tokenOf, unitsOf } from '../respond.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

const MIN_SLIPPAGE_PCT = 0.05;
const MAX_SLIPPAGE_PCT = 50;
const MAX_REFERRER_FEE_PCT = 5;
const GAS = 310_000;

export const openocean: SimulatedProvider = {
  base: '/openocean',
  handle,
  shape: { values: ['outAmount', 'data', 'to'], single: true },
  refusal: (status, message) => ({ code: status, error: message }),
};

async function handle(request: SimRequest, world: World): Promise<SimResponse> {
  const name = matchPath('/v4/{chain}/swap', request.path)?.chain;
  const chain = world.catalog.chains.find(({ providers }) => name !== undefined && providers.openocean === name);
  if (request.method !== 'GET' || chain === undefined) return failure(404, 'chain or path not supported');
  const { query } = request;
  const tokenIn = tokenOf(chain, query.get('inTokenAddress'));
  const tokenOut = tokenOf(chain, query.get('outTokenAddress'));
  const amountIn = unitsOf(query.get('amountDecimals'));
  const account = addressOf(query.get('account'));
  const slippagePct = Number(query.get('slippage') ?? '1');
  const referrer = addressOf(query.get('referrer'));
  const feePct = Number(query.get('referrerFee') ?? '0');

  if (tokenIn === undefined || tokenOut === undefined) return failure(400, 'Can not find token');
  if (amountIn === undefined) return failure(400, 'amountDecimals is invalid');
  if (unitsOf(query.get('gasPriceDecimals')) === undefined) return failure(400, 'gasPriceDecimals is invalid');
  if (account === undefined) return failure(400, 'account is invalid');
  if (!(slippagePct >= MIN_SLIPPAGE_PCT && slippagePct <= MAX_SLIPPAGE_PCT)) return failure(400, 'slippage is invalid');
  if (!(feePct >= 0 && feePct <= MAX_REFERRER_FEE_PCT)) return failure(400, 'referrerFee is invalid');

  // The fee belongs to the referrer: without one there is none.
  const feeBps = referrer === undefined ? 0n : BigInt(Math.round(feePct * 100));
  const quote = await quoteSwap(world, chain, 'AggregatorTwo', { tokenIn, tokenOut, amountIn, feeBps });
  if (quote === null) return failure(400, 'not find route');
  const minOut = leastOut(quote.amountOut, slippagePct * 100);
  return ok({
    code: 200,
    data: swapBody(chain, tokenIn, tokenOut, quote, minOut, account, referrer ?? account, query),
  });
}

function swapBody(
  chain: Chain,
  tokenIn: Token,
  tokenOut: Token,
  quote: PricedQuote,
  minOut: bigint,
  account: `0x${string}`,
  feeReceiver: `0x${string}`,
  query: URLSearchParams,
): unknown {
  const { swap, amountOut, impactBps } = quote;
  const sideOf = (token: Token, usd: string, volume: number) => {
    const { symbol, name, decimals } = token;
    return { symbol, name, address: displayAddress(token), decimals, usd, volume };
  };
  const dex = 'UniswapV3';
  return {
    inToken: sideOf(tokenIn, quote.usdIn.toFixed(), fromUnits(swap.amountIn, tokenIn.decimals).toNumber()),
    outToken: sideOf(tokenOut, quote.usdOut.toFixed(), fromUnits(amountOut, tokenOut.decimals).toNumber()),
    inAmount: swap.amountIn.toString(),
    outAmount: amountOut.toString(),
    minOutAmount: minOut.toString(),
    estimatedGas: GAS,
    path: {
      from: displayAddress(tokenIn),
      to: displayAddress(tokenOut),
      parts: 1,
      routes: [{ parts: 1, percentage: 100, subRoutes: [{ parts: 1, dexes: [{ dex, parts: 1, percentage: 100 }] }] }],
    },
    price_impact: `${(-Number(impactBps) / 100).toFixed(2)}%`,
    chainId: chain.chainId,
    from: account,
    to: swap.router,
    value: tokenIn.isNative ? swap.amountIn.toString() : '0',
    gasPrice: query.get('gasPriceDecimals'),
    data: swapCalldata(swap, minOut, account, feeReceiver),
  };
}

function failure(status: number, message: string): SimResponse {
  return { status, body: { code: status, error: message } };
}

import { createHash } from 'node:crypto';
import type { Chain } from '../../../src/catalog/index.ts';
import { swapCalldata } from '../local-chain.ts';
import { displayAddress, type PricedQuote, quoteSwap } from '../quotes.ts';
import { addressOf, fieldsOf, leastOut, matchPath, ok, tokenOf, unitsOf } from '../respond.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

const GAS = '285000';
const GAS_PRICE_WEI = '1000000000';
const GAS_USD = '0.912';
const MAX_SLIPPAGE_BPS = 2_000;
const MAX_FEE_BPS = 500n;

interface RouteRequest {
  readonly tokenIn: unknown;
  readonly tokenOut: unknown;
  readonly amountIn: unknown;
  readonly feeBps: bigint;
  readonly feeReceiver: string;
}

export const kyberswap: SimulatedProvider = {
  base: '/kyberswap',
  handle,
  shape: { values: ['amountOut', 'amountOutUsd', 'data', 'routerAddress'], single: true },
  refusal: (status, message) => ({ code: status, message, details: null, requestId: requestId(message) }),
};

function handle(request: SimRequest, world: World): SimResponse | Promise<SimResponse> {
  const route = matchPath('/{chain}/api/v1/routes', request.path);
  const build = matchPath('/{chain}/api/v1/route/build', request.path);
  const name = (route ?? build)?.chain;
  const chain = world.catalog.chains.find(({ providers }) => name !== undefined && providers.kyberswap === name);
  if (chain === undefined) return { status: 404, body: { message: 'page not found' } };
  if (route !== undefined && request.method === 'GET') return getRoute(request.query, chain, world);
  if (build !== undefined && request.method === 'POST') return buildRoute(fieldsOf(request.body), chain, world);
  return { status: 405, body: { message: 'method not allowed' } };
}

async function getRoute(query: URLSearchParams, chain: Chain, world: World): Promise<SimResponse> {
  const feeAmount = query.get('feeAmount');
  const feeReceiver = query.get('feeReceiver') ?? '';
  if (feeAmount !== null) {
    const whole = query.get('isInBps') === 'true' && query.get('chargeFeeBy') === 'currency_in';
    if (!whole) return failure(400, 4000, 'bad request', [violation('isInBps, chargeFeeBy')]);
    const known = /^\d{1,4}$/.test(feeAmount) && BigInt(feeAmount) <= MAX_FEE_BPS;
    if (!known || addressOf(feeReceiver) === undefined) {
      return failure(400, 4000, 'bad request', [violation('feeAmount, feeReceiver')]);
    }
  }
  return quoted(world, chain, {
    tokenIn: query.get('tokenIn'),
    tokenOut: query.get('tokenOut'),
    amountIn: query.get('amountIn'),
    feeBps: BigInt(feeAmount ?? '0'),
    feeReceiver,
  });
}

async function quoted(world: World, chain: Chain, requested: RouteRequest): Promise<SimResponse> {
  const quote = await findQuote(world, chain, requested);
  if ('status' in quote) return quote;
  const summary = summaryOf(quote, requested, chain, world);
  return ok({
    code: 0,
    message: 'successfully',
    data: { routeSummary: { ...summary, checksum: checksumOf(summary) }, routerAddress: quote.swap.router },
    requestId: requestId(JSON.stringify(summary)),
  });
}

async function findQuote(world: World, chain: Chain, requests: RouteRequest): Promise<PricedQuote | SimResponse> {
  const amountIn = unitsOf(requests.amountIn);
  if (amountIn === undefined) return failure(400, 4000, 'bad request', [violation('amountIn')]);
  for (const side of ['tokenIn', 'tokenOut'] as const) {
    if (addressOf(requests[side]) === undefined) return failure(400, 4000, 'bad request', [violation(side)]);
  }
  const tokenIn = tokenOf(chain, String(requests.tokenIn));
  const tokenOut = tokenOf(chain, String(requests.tokenOut));
  if (tokenIn === undefined || tokenOut === undefined) return failure(400, 4011, 'token not found');
  const quote = await quoteSwap(world, chain, 'AggregatorOne', {
    tokenIn,
    tokenOut,
    amountIn,
    feeBps: requests.feeBps,
  });
  return quote ?? failure(400, 4008, 'route not found');
}

function summaryOf(quote: PricedQuote, input: RouteRequest, chain: Chain, world: World) {
  const { swap, amountOut, amountInUsd, amountOutUsd } = quote;
  const tokenIn = tokenOf(chain, swap.tokenIn) ?? chain.native;
  const tokenOut = tokenOf(chain, swap.tokenOut) ?? chain.native;
  const hop = {
    pool: `0x${createHash('sha1').update(`${swap.tokenIn}${swap.tokenOut}`).digest('hex')}`,
    tokenIn: displayAddress(tokenIn),
    tokenOut: displayAddress(tokenOut),
    swapAmount: swap.amountIn.toString(),
    amountOut: amountOut.toString(),
    exchange: 'uniswapv3',
    poolType: 'uniswapv3',
    poolExtra: null,
    extra: {},
  };
  return {
    tokenIn: displayAddress(tokenIn),
    amountIn: swap.amountIn.toString(),
    amountInUsd: amountInUsd.toFixed(),
    tokenOut: displayAddress(tokenOut),
    amountOut: amountOut.toString(),
    amountOutUsd: amountOutUsd.toFixed(),
    gas: GAS,
    gasPrice: GAS_PRICE_WEI,
    gasUsd: GAS_USD,
    l1FeeUsd: '0',
    extraFee:
      swap.feeBps === 0n
        ? { feeAmount: '0', chargeFeeBy: '', isInBps: false, feeReceiver: '' }
        : {
            feeAmount: swap.feeBps.toString(),
            chargeFeeBy: 'currency_in',
            isInBps: true,
            feeReceiver: input.feeReceiver,
          },
    route: [[hop]],
    routeID: requestId(`${swap.tokenIn}${swap.tokenOut}${swap.amountIn}`),
    timestamp: Math.floor(world.clock.now() / 1000),
  };
}

async function buildRoute(body: Readonly<Record<string, unknown>>, chain: Chain, world: World): Promise<SimResponse> {
  const { checksum, ...summary } = fieldsOf(body.routeSummary);
  if (checksum !== checksumOf(summary))
    return failure(400, 4002, 'route summary is not one of ours', [violation('routeSummary')]);
  const slippageBps = Number(body.slippageTolerance ?? 0);
  if (!(slippageBps >= 0 && slippageBps <= MAX_SLIPPAGE_BPS))
    return failure(400, 4000, 'bad request', [violation('slippageTolerance')]);
  const recipient = addressOf(body.recipient);
  if (recipient === undefined || addressOf(body.sender) === undefined) {
    return failure(400, 4000, 'bad request', [violation('sender, recipient')]);
  }
  const fee = fieldsOf(summary.extraFee);
  const feeReceiver = typeof fee.feeReceiver === 'string' ? fee.feeReceiver : '';
  const routeRequest: RouteRequest = {
    tokenIn: summary.tokenIn,
    tokenOut: summary.tokenOut,
    amountIn: summary.amountIn,
    feeBps: BigInt(String(fee.feeAmount ?? '0')),
    feeReceiver,
  };
  const quote = await findQuote(world, chain, routeRequest);
  if ('status' in quote) return quote;

  const estimated = BigInt(String(summary.amountOut));
  const minOut = leastOut(estimated, slippageBps);
  if (quote.amountOut < minOut) return failure(422, 4222, 'quoted amount is smaller than estimated');
  const { swap, amountOut } = quote;
  const change = amountOut - estimated;
  return ok({
    code: 0,
    message: 'successfully',
    data: {
      amountIn: swap.amountIn.toString(),
      amountInUsd: quote.amountInUsd.toFixed(),
      amountOut: amountOut.toString(),
      amountOutUsd: quote.amountOutUsd.toFixed(),
      gas: GAS,
      gasUsd: GAS_USD,
      additionalCostUsd: '0',
      additionalCostMessage: '',
      outputChange: { amount: change.toString(), percent: Number((change * 10_000n) / estimated) / 100, level: 0 },
      data: swapCalldata(swap, minOut, recipient, addressOf(feeReceiver) ?? recipient),
      routerAddress: swap.router,
      transactionValue: tokenOf(chain, swap.tokenIn)?.isNative ? swap.amountIn.toString() : '0',
    },
    requestId: requestId(`build ${String(checksum)}`),
  });
}

/** A summary must be returned unchanged. */
function checksumOf(summary: object): string {
  const canonical = JSON.stringify(summary, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return BigInt(`0x${createHash('sha256').update(canonical).digest('hex').slice(0, 16)}`).toString();
}

function requestId(seed: string): string {
  const hex = createHash('md5').update(seed).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function violation(field: string): unknown {
  return { fieldViolations: [{ field, description: 'invalid' }] };
}

function failure(status: number, code: number, message: string, details: unknown = null): SimResponse {
  return { status, body: { code, message, details, requestId: requestId(`${code}${message}`) } };
}

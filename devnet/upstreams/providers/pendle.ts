import type { Chain, Token } from '../../../src/catalog/index.ts';
import { labelAddress } from '../../seed/accounts.ts';
import { swapCalldata } from '../local-chain.ts';
import { quoteSwap } from '../quotes.ts';
import { addressOf, fieldsOf, leastOut, matchPath, ok, tokenOf, unitsOf } from '../respond.ts';
import { DAY_MS, fraction, round } from '../series.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

/** Markets without a curated token. */
const OTHERS = [
  { name: 'eUSDe', impliedApy: 0.0712, daysLeft: 96 },
  { name: 'sUSDf', impliedApy: 0.0894, daysLeft: 187 },
];

/** Parameters of a conversion. Others are refused, so that a misspelt one is noticed. */
const CONVERT_FIELDS = new Set([
  'receiver',
  'slippage',
  'enableAggregator',
  'aggregators',
  'inputs',
  'outputs',
  'redeemRewards',
  'needScale',
  'useLimitOrder',
  'additionalData',
  'kyberSwapParams',
]);

const DEFAULT_PAGE = 10;
const MAX_PAGE = 100;

export const pendle: SimulatedProvider = {
  base: '/pendle/core',
  handle,
  shape: { values: ['impliedApy', 'amount', 'to'] },
  refusal: (status, message) => ({ message, statusCode: status }),
};

function handle(request: SimRequest, world: World): SimResponse | Promise<SimResponse> {
  if (request.method === 'GET' && request.path === '/v2/markets/all') return markets(request.query, world);
  const chainId = matchPath('/v3/sdk/{chainId}/convert', request.path)?.chainId;
  if (chainId === undefined || request.method !== 'POST') {
    return failure(404, `Cannot ${request.method} ${request.path}`);
  }
  const chain = world.catalog.chain(Number(chainId));
  if (!chain?.providers.pendle) return failure(400, `Chain ${chainId} is not supported`);
  return convert(fieldsOf(request.body), chain, world);
}

function markets(query: URLSearchParams, world: World): SimResponse {
  const active = query.get('isActive');
  const limit = Number(query.get('limit') ?? DEFAULT_PAGE);
  const skip = Number(query.get('skip') ?? 0);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE))
    return failure(400, ['limit must not be greater than 100']);
  if (!(Number.isInteger(skip) && skip >= 0)) return failure(400, ['skip must not be less than 0']);
  const chainId = query.get('chainId');
  const nowMs = world.clock.now();
  const rows = world.catalog.chains
    .filter((chain) => chain.providers.pendle && (chainId === null || chainId === String(chain.chainId)))
    .flatMap((chain) => [
      ...chain.tokens.filter(({ isPt }) => isPt).map((pt) => ptMarket(chain, pt, world)),
      ...OTHERS.map(({ name, impliedApy, daysLeft }) =>
        marketBody(chain, {
          name,
          pt: labelAddress(`PT ${name}`),
          underlying: labelAddress(name),
          expiryMs: Math.floor(world.startedMs / DAY_MS) * DAY_MS + daysLeft * DAY_MS,
          impliedApy,
        }),
      ),
    ])
    .filter(({ expiry }) => active === null || Date.parse(expiry) > nowMs === (active === 'true'));
  return ok({ total: rows.length, limit, skip, results: rows.slice(skip, skip + limit) });
}

function ptMarket(chain: Chain, pt: Token, world: World) {
  return marketBody(chain, {
    name: pt.underlying?.symbol ?? pt.displaySymbol,
    pt: pt.address,
    underlying: pt.underlying?.address ?? labelAddress(`underlying ${pt.symbol}`),
    expiryMs: (pt.maturity ?? 0) * 1000,
    impliedApy: world.apyPct(pt)?.div(100).toNumber() ?? 0,
  });
}

function marketBody(
  { chainId }: Chain,
  market: {
    readonly name: string;
    readonly pt: string;
    readonly underlying: string;
    readonly expiryMs: number;
    readonly impliedApy: number;
  },
) {
  const { name, pt, underlying, expiryMs, impliedApy } = market;
  const id = (address: string) => `${chainId}-${address.toLowerCase()}`;
  const tvl = Math.round(3_000_000 + fraction(pt) * 60_000_000);
  return {
    name,
    address: labelAddress(`yield market ${pt}`).toLowerCase(),
    expiry: new Date(expiryMs).toISOString(),
    pt: id(pt),
    yt: id(labelAddress(`YT ${pt}`)),
    sy: id(labelAddress(`SY ${pt}`)),
    underlyingAsset: id(underlying),
    details: {
      liquidity: tvl,
      totalTvl: tvl * 3,
      tradingVolume: Math.round(tvl * 0.08),
      underlyingApy: round(impliedApy * 0.94, 6),
      swapFeeApy: 0.0021,
      pendleApy: 0.0118,
      impliedApy,
      feeRate: 0.0015,
      yieldRange: { min: round(impliedApy * 0.5, 4), max: round(impliedApy * 1.8, 4) },
      aggregatedApy: round(impliedApy * 0.9, 6),
      maxBoostedApy: round(impliedApy * 1.1, 6),
    },
    isNew: false,
    isPrime: true,
    timestamp: new Date(expiryMs - 200 * DAY_MS).toISOString(),
    categoryIds: ['stables'],
  };
}

async function convert(body: Readonly<Record<string, unknown>>, chain: Chain, world: World): Promise<SimResponse> {
  const { inputs, outputs } = body;
  const unknown = Object.keys(body).filter((field) => !CONVERT_FIELDS.has(field));
  if (unknown.length > 0)
    return failure(
      400,
      unknown.map((field) => `property ${field} should not exist`),
    );
  if (!Array.isArray(inputs) || inputs.length !== 1) return failure(400, ['inputs must contain exactly 1 element']);
  if (!Array.isArray(outputs) || outputs.length !== 1) return failure(400, ['outputs must contain exactly 1 element']);
  const input = fieldsOf(inputs[0]);
  const amountIn = unitsOf(input.amount);
  const receiver = addressOf(body.receiver);
  const slippage = Number(body.slippage);
  const fee = feeOf(body);
  if (amountIn === undefined) return failure(400, ['inputs.0.amount must be a positive number string']);
  if (receiver === undefined) return failure(400, ['receiver must be an Ethereum address']);
  if (!(slippage >= 0 && slippage <= 1)) return failure(400, ['slippage must be between 0 and 1']);
  if (fee === undefined)
    return failure(400, ['the fee must be between 0 and 100 basis points, with a receiver address']);
  const tokenIn = tokenOf(chain, String(input.token));
  const tokenOut = tokenOf(chain, String(outputs[0]));
  if (tokenIn === undefined || tokenOut === undefined) return failure(404, 'Token not found');
  const pt = [tokenIn, tokenOut].find(({ isPt }) => isPt);
  if (pt === undefined) return failure(400, 'Unsupported action');
  if ((pt.maturity ?? 0) * 1000 <= world.clock.now() && pt === tokenOut) return failure(400, 'Market is expired');
  const isDirect = [tokenIn, tokenOut].some(({ address }) => address === pt.underlying?.address);
  if (body.enableAggregator !== true && !isDirect) {
    return failure(400, 'The token is not an input or output of the SY: enable the aggregator');
  }

  const feeBps = isDirect ? 0n : fee.bps;
  const quote = await quoteSwap(world, chain, 'YieldMarket', { tokenIn, tokenOut, amountIn, feeBps });
  if (quote === null) return failure(400, 'No route found');
  const minOut = leastOut(quote.amountOut, slippage * 10_000);
  const apy = world.apyPct(pt)?.div(100).toNumber() ?? 0;
  const shown = { token: tokenIn.address.toLowerCase(), amount: amountIn.toString() };
  return ok({
    action: 'swap',
    inputs: [shown],
    requiredApprovals: tokenIn.isNative ? [] : [shown],
    routes: [
      {
        contractParamInfo: {
          method: pt === tokenOut ? 'swapExactTokenForPt' : 'swapExactPtForToken',
          contractCallParamsName: ['receiver', 'market', pt === tokenOut ? 'minPtOut' : 'output'],
          contractCallParams: [receiver, labelAddress(`yield market ${pt.address}`), minOut.toString()],
        },
        tx: {
          data: swapCalldata(quote.swap, minOut, receiver, fee.receiver ?? receiver),
          to: quote.swap.router,
          from: receiver,
          value: tokenIn.isNative ? amountIn.toString() : '0',
        },
        outputs: [{ token: tokenOut.address.toLowerCase(), amount: quote.amountOut.toString() }],
        data: {
          aggregatorType: isDirect ? 'VOID' : 'KYBERSWAP',
          priceImpact: -Number(quote.impactBps) / 10_000,
          fee: { usd: quote.amountInUsd.times(0.0005).toNumber() },
          impliedApy: { before: apy, after: round(apy * 0.999, 9) },
          effectiveApy: round(apy * 0.998, 9),
        },
      },
    ],
  });
}

/**
 * Referral fee of a conversion, which the aggregator behind it takes from the input: `kyberSwapParams.routes`, and only where
 * that aggregator is the one allowed. None given = none.
 */
function feeOf(body: Readonly<Record<string, unknown>>): { bps: bigint; receiver?: `0x${string}` } | undefined {
  if (body.kyberSwapParams === undefined) return { bps: 0n };
  const { chargeFeeBy, feeAmount, feeReceiver, isInBps } = fieldsOf(fieldsOf(body.kyberSwapParams).routes);
  const address = addressOf(feeReceiver);
  const bps = Number(feeAmount);
  const isPlaced = chargeFeeBy === 'currency_in' && isInBps === true && typeof feeAmount === 'string';
  const isAlone = Array.isArray(body.aggregators) && body.aggregators.join() === 'kyberswap';
  if (!isPlaced || !isAlone || address === undefined || !Number.isInteger(bps) || bps < 0 || bps > 100)
    return undefined;
  return { bps: BigInt(bps), receiver: address };
}

function failure(statusCode: number, message: string | readonly string[]): SimResponse {
  return { status: statusCode, body: { message, error: statusCode === 404 ? 'Not Found' : 'Bad Request', statusCode } };
}

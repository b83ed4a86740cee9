import { Decimal } from '../../../src/shared/decimal.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { createKyberswap } from '../../../src/upstreams/kyberswap/client.ts';
import { createOpenocean } from '../../../src/upstreams/openocean/client.ts';
import { createPendle } from '../../../src/upstreams/pendle/client.ts';
import type { SwapRequest } from '../../../src/upstreams/types.ts';
import { type AdapterCase, one } from '../conformance.ts';
import { change, ethereum, fixture, type Json, NOW_MS, token } from '../support/world.ts';

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' as Address;
export const stranger = '0x000000000000000000000000000000000000dEaD';

export const swapRequest: SwapRequest = {
  chain: ethereum,
  tokenIn: token('USDC').address,
  tokenOut: token('sUSDe').address,
  amountIn: 1_000_000_000n,
  sender: wallet,
  recipient: wallet,
  slippage: new Decimal('0.005'),
  feeBps: 5,
  feeReceiver: stranger,
};
export const ptRequest: SwapRequest = { ...swapRequest, tokenOut: token('PT-apxUSD-5NOV2026').address };

const route = fixture('kyberswap-route');
const build = fixture('kyberswap-build');
const amountOut = ['data', 'routeSummary', 'amountOut'] as const;
const routes = (json: Json) => ({ 'GET /ethereum/api/v1/routes': json });
const kyber = (builtJson: Json, routeJson: Json = route) => ({
  ...routes(routeJson),
  'POST /ethereum/api/v1/route/build': builtJson,
});
const quotedMs = NOW_MS - 1_000;
const goodRoute = { value: { amountOut: '817234567890123456789n', amountOutUsd: '999.4321', quotedMs } };

export const kyberRoute: AdapterCase = {
  name: 'kyberswap: route',
  overloadTries: 3,
  publicName: 'AggregatorOne',
  keyed: true,
  create: (deps) => (signal) => one(createKyberswap(deps).routes.route(swapRequest, signal && { signal })),
  routes: routes(route),
  absent: { throws: 'rejected' },
  dated: null,
  variants: {
    missingField: { routes: routes(change(route, amountOut, undefined)), expect: { throws: 'missing' } },
    empty: { routes: routes({ code: 0, data: null }), expect: { throws: 'malformed' } },
    // Without a USD value the route is still a route; the provider writes 0 for "no price".
    partial: {
      routes: routes(change(route, ['data', 'routeSummary', 'amountOutUsd'], '0')),
      expect: { value: { amountOut: '817234567890123456789n', quotedMs } },
    },
    duplicate: { routes: routes({ ...(route as object), extra: route } as Json), expect: goodRoute },
    nan: { routes: routes(change(route, amountOut, 'NaN')), expect: { throws: 'malformed' } },
    negative: { routes: routes(change(route, amountOut, '-1')), expect: { throws: 'implausible' } },
    absurd: { routes: routes(change(route, amountOut, '0')), expect: { throws: 'implausible' } },
  },
};

export const kyberQuote: AdapterCase = {
  name: 'kyberswap: quote',
  overloadTries: 9,
  publicName: 'AggregatorOne',
  keyed: true,
  create: (deps) => (signal) => one(createKyberswap(deps).quotes.quote(swapRequest, signal && { signal })),
  routes: kyber(build),
  absent: { throws: 'rejected' },
  dated: null,
  variants: {
    missingField: { routes: kyber(change(build, ['data', 'data'], undefined)), expect: { throws: 'malformed' } },
    empty: { routes: kyber(build, { code: 4008, message: 'route not found' }), expect: { value: null } },
    partial: { routes: kyber({ code: 0 }), expect: { throws: 'malformed' } },
    duplicate: {
      routes: kyber(change(build, ['data', 'amountIn'], '2000000000')),
      expect: { throws: 'implausible' },
    },
    nan: { routes: kyber(change(build, ['data', 'amountOut'], 'NaN')), expect: { throws: 'malformed' } },
    negative: { routes: kyber(change(build, ['data', 'amountOut'], '-817')), expect: { throws: 'implausible' } },
    absurd: { routes: kyber(change(build, ['data', 'routerAddress'], stranger)), expect: { throws: 'implausible' } },
  },
};

const swap = fixture('openocean-swap');
const ocean = (json: Json) => ({ 'GET /v4/eth/swap': json });

export const openoceanQuote: AdapterCase = {
  name: 'openocean: quote',
  publicName: 'AggregatorTwo',
  keyed: true,
  create: (deps) => (signal) => one(createOpenocean(deps).quote(swapRequest, signal && { signal })),
  routes: ocean(swap),
  absent: { throws: 'rejected' },
  dated: null,
  variants: {
    missingField: { routes: ocean(change(swap, ['data', 'to'], undefined)), expect: { throws: 'missing' } },
    empty: { routes: ocean({ code: 200 }), expect: { throws: 'malformed' } },
    partial: { routes: ocean({ code: 503, error: 'busy' }), expect: { throws: 'server_error' } },
    duplicate: { routes: ocean(change(swap, ['data', 'inAmount'], '2000000000')), expect: { throws: 'implausible' } },
    nan: { routes: ocean(change(swap, ['data', 'outAmount'], 'NaN')), expect: { throws: 'malformed' } },
    negative: { routes: ocean(change(swap, ['data', 'outAmount'], '-1')), expect: { throws: 'implausible' } },
    absurd: { routes: ocean(change(swap, ['data', 'to'], stranger)), expect: { throws: 'implausible' } },
  },
};

const convert = fixture('pendle-convert');
const pendle = (json: Json) => ({ 'POST /v3/sdk/1/convert': json });
const output = ['routes', 0, 'outputs', 0, 'amount'] as const;

export const pendleQuote: AdapterCase = {
  name: 'pendle: quote',
  publicName: 'YieldMarket',
  keyed: true,
  create: (deps) => (signal) => one(createPendle(deps).quotes.quote(ptRequest, signal && { signal })),
  routes: pendle(convert),
  absent: { throws: 'rejected' },
  dated: null,
  variants: {
    missingField: { routes: pendle(change(convert, ['routes', 0, 'tx'], undefined)), expect: { throws: 'malformed' } },
    empty: { routes: pendle(change(convert, ['routes'], [])), expect: { value: null } },
    partial: { routes: pendle(change(convert, ['routes', 0, 'outputs'], [])), expect: { throws: 'malformed' } },
    duplicate: {
      // Of several routes the first counts; the provider puts the best first.
      routes: pendle({ routes: [...(convert as { routes: Json[] }).routes, { tx: {}, outputs: [{ amount: '1' }] }] }),
      expect: {
        value: {
          source: 'YieldMarket',
          feeBps: 5,
          amountIn: '1000000000n',
          amountOut: '1013456789012345678901n',
          router: '0x888888888889758F76e7103c6CbF23ABbF58F946',
          calldata: '0xc81f847a000000000000000000000000f39fd6e51aad88f6f4ce6ab8827279cfffb92266',
          value: '0n',
          expiresAtMs: NOW_MS + 60_000,
        },
      },
    },
    nan: { routes: pendle(change(convert, output, 'NaN')), expect: { throws: 'malformed' } },
    negative: { routes: pendle(change(convert, output, '-5')), expect: { throws: 'implausible' } },
    absurd: { routes: pendle(change(convert, ['routes', 0, 'tx', 'to'], stranger)), expect: { throws: 'implausible' } },
  },
};

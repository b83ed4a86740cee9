import {
  ABSENT,
  type AdapterDeps,
  createHttp,
  createProviderBudget,
  type Documented,
  type Http,
  QUOTE_OVERLOAD_RETRIES,
  REFUSED,
} from '../http.ts';
import { feeBpsOf, nativeAlias, quoteExpiry, slippageBps } from '../quotes.ts';
import { readObservedMs } from '../readings.ts';
import {
  type CallOptions,
  QUOTE_REQUEST_MS,
  type RoutePort,
  type RouteRequest,
  type SwapQuotePort,
  type SwapRequest,
} from '../types.ts';
import { buildCodes, quoteCodes, sweepCodes } from './codes.ts';
import { type MappedRoute, mapBuild, mapRoute } from './map.ts';
import { builtRouteSchema, routesSchema } from './schema.ts';

/** A maker may refuse a route that has just been found; a fresh one is requested once. */
const BUILD_TRIES = 2;

/** Read routes (exit sweeps) and executable quotes of the first swap aggregator. */
export function createKyberswap(deps: AdapterDeps): { routes: RoutePort; quotes: SwapQuotePort } {
  const { apiKey } = deps.config;
  const common = {
    ...deps,
    budget: deps.budget ?? createProviderBudget(deps),
    publicName: 'AggregatorOne',
    secrets: apiKey === undefined ? {} : { headers: { 'x-client-id': apiKey } },
  };
  const sweeps = createHttp({
    ...common,
    provider: 'kyberswap-sweep',
    part: 'exit_sizes',
  });
  const http = createHttp({
    ...common,
    provider: 'kyberswap',
    part: 'quotes',
    isWaitedFor: true,
    overloadRetries: QUOTE_OVERLOAD_RETRIES,
  });

  async function findRoute(
    { http, ...rules }: { readonly http: Http; readonly documented: Documented; readonly patienceMs?: number },
    request: RouteRequest,
    fee: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<MappedRoute | null> {
    const chain = request.chain.providers.kyberswap;
    if (chain === undefined) return null;
    const body = await http.request({
      path: '/:chain/api/v1/routes',
      params: { chain },
      query: {
        tokenIn: nativeAlias(request.tokenIn),
        tokenOut: nativeAlias(request.tokenOut),
        amountIn: request.amountIn.toString(),
        ...fee,
      },
      ...rules,
      scope: chain,
      signal: options?.signal,
    });
    if (body === ABSENT) return null;
    const route = mapRoute(request, http.parse(routesSchema, body));
    if (typeof route === 'string') throw http.error(route);
    return route;
  }

  return {
    routes: {
      async route(request, options) {
        const route = await findRoute({ http: sweeps, documented: sweepCodes }, request, {}, options);
        if (route === null) return null;
        const { amountOut, amountOutUsd, summary } = route;
        const quoted = readObservedMs(summary.timestamp, 'sec', deps.clock.now());
        return { amountOut, amountOutUsd, quotedMs: quoted.ok ? quoted.value : undefined };
      },
    },
    quotes: {
      source: 'AggregatorOne',
      serves: ({ chain }) => chain.providers.kyberswap !== undefined,
      async quote(request, options) {
        const chain = request.chain.providers.kyberswap ?? '';
        const patienceMs = QUOTE_REQUEST_MS[options?.purpose ?? 'preview'];
        for (let tries = 1; tries <= BUILD_TRIES; tries += 1) {
          const expiresAtMs = quoteExpiry(deps.clock.now());
          const route = await findRoute(
            { http, documented: quoteCodes, patienceMs },
            request,
            feeQuery(request),
            options,
          );
          if (route === null) return null;
          const body = await http.request({
            path: '/:chain/api/v1/route/build',
            params: { chain },
            post: {
              routeSummary: route.summary,
              sender: request.sender,
              recipient: request.recipient,
              slippageTolerance: slippageBps(request),
            },
            documented: buildCodes,
            patienceMs,
            scope: chain,
            signal: options?.signal,
          });
          if (body === REFUSED) continue;
          const quote = mapBuild(request, http.parse(builtRouteSchema, body), expiresAtMs);
          if (typeof quote === 'string') throw http.error(quote);
          return quote;
        }
        throw http.error('price_moved');
      },
    },
  };
}

function feeQuery(request: SwapRequest): Readonly<Record<string, string>> {
  const { feeBps, feeReceiver } = request;
  if (feeBpsOf(request) === 0 || feeReceiver === undefined) return {};
  return { isInBps: 'true', chargeFeeBy: 'currency_in', feeReceiver, feeAmount: String(feeBps) };
}

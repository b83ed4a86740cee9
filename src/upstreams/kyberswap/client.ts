import {
  ABSENT,
  type AdapterDeps,
  createHttp,
  createProviderBudget,
  type Http,
  QUOTE_OVERLOAD_RETRIES,
} from '../http.ts';
import { feeBpsOf, NO_ROUTE_STATUSES, nativeAlias, quoteExpiry, slippageBps } from '../quotes.ts';
import type { CallOptions, RoutePort, RouteRequest, SwapQuotePort, SwapRequest } from '../types.ts';
import { type MappedRoute, mapBuild, mapRoute, refusalIn } from './map.ts';
import { builtRouteSchema, routesSchema } from './schema.ts';

/** Share of the provider's budget for exit sweeps. The rest is reserved for quotes, which users wait for. */
const SWEEP_SHARE = 0.25;
/** 503 comes with code 50301 ("overloaded"); the same request often succeeds a moment later. */
const REFUSALS = { absentOn: NO_ROUTE_STATUSES, overloadedOn: [503], refusalIn };

/** Read routes (exit sweeps) and executable quotes of the first swap aggregator. */
export function createKyberswap(deps: AdapterDeps): { routes: RoutePort; quotes: SwapQuotePort } {
  const { apiKey } = deps.config;
  const common = {
    ...deps,
    publicName: 'AggregatorOne',
    secrets: apiKey === undefined ? {} : { headers: { 'x-client-id': apiKey } },
  };
  const sweeps = createHttp({
    ...common,
    provider: 'kyberswap-sweep',
    part: 'exit_sizes',
    budget: createProviderBudget(deps, 'kyberswap-sweep', { share: SWEEP_SHARE }),
  });
  const http = createHttp({
    ...common,
    provider: 'kyberswap',
    part: 'quotes',
    isWaitedFor: true,
    budget: createProviderBudget(deps, 'kyberswap', { share: 1 - SWEEP_SHARE, isWaitedFor: true }),
    overloadRetries: QUOTE_OVERLOAD_RETRIES,
  });

  async function findRoute(
    http: Http,
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
      ...REFUSALS,
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
        const route = await findRoute(sweeps, request, {}, options);
        if (route === null) return null;
        const { amountOut, amountOutUsd } = route;
        return { amountOut, amountOutUsd };
      },
    },
    quotes: {
      source: 'AggregatorOne',
      serves: ({ chain }) => chain.providers.kyberswap !== undefined,
      async quote(request, options) {
        const expiresAtMs = quoteExpiry(deps.clock.now());
        const route = await findRoute(http, request, feeQuery(request), options);
        if (route === null) return null;
        const body = await http.request({
          path: '/:chain/api/v1/route/build',
          params: { chain: request.chain.providers.kyberswap ?? '' },
          post: {
            routeSummary: route.summary,
            sender: request.sender,
            recipient: request.recipient,
            slippageTolerance: slippageBps(request),
          },
          ...REFUSALS,
          signal: options?.signal,
        });
        if (body === ABSENT) return null;
        const quote = mapBuild(request, http.parse(builtRouteSchema, body), expiresAtMs);
        if (typeof quote === 'string') throw http.error(quote);
        return quote;
      },
    },
  };
}

function feeQuery(request: SwapRequest): Readonly<Record<string, string>> {
  const { feeBps, feeReceiver } = request;
  if (feeBpsOf(request) === 0 || feeReceiver === undefined) return {};
  return { isInBps: 'true', chargeFeeBy: 'currency_in', feeReceiver, feeAmount: String(feeBps) };
}

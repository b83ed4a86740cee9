import { ABSENT, type AdapterDeps, CATALOG_BYTES, createHttp, createProviderBudget } from '../http.ts';
import { feeBpsOf, quoteExpiry } from '../quotes.ts';
import {
  type CallOptions,
  type CollateralApySourcePort,
  QUOTE_REQUEST_MS,
  type SwapQuotePort,
  type SwapRequest,
} from '../types.ts';
import { convertCodes, mapApys, mapConvert } from './map.ts';
import { convertSchema, marketsSchema } from './schema.ts';

/** The largest page that the provider answers. */
const PAGE_SIZE = 100;
/** Ten times the present number of markets. */
const MAX_PAGES = 50;
/**
 * The aggregator behind the converter. It is the only one that supports a referral fee, and each further one costs computing units:
 * all that are asked when none is named cost 17.
 */
const AGGREGATOR = 'kyberswap';
/** Computing units of a conversion, and of its aggregator. */
const CONVERT_UNITS = 5 + 1;

/** Read implied APYs of principal tokens and quote swaps into and out of them. */
export function createPendle(deps: AdapterDeps): { apys: CollateralApySourcePort; quotes: SwapQuotePort } {
  const secrets =
    deps.config.apiKey === undefined ? {} : { headers: { authorization: `Bearer ${deps.config.apiKey}` } };
  // Two clients, because errors name the two surfaces differently; one budget, because the provider is the same.
  const budget = deps.budget ?? createProviderBudget(deps);
  const apyHttp = createHttp({ ...deps, budget, provider: 'pendle', publicName: 'yieldmarket', secrets });
  const swapHttp = createHttp({
    ...deps,
    budget,
    provider: 'pendle-convert',
    publicName: 'YieldMarket',
    isWaitedFor: true,
    secrets,
  });
  /** Every page. A token whose market is beyond the bound is missing, and stays at its last good value. */
  async function allMarkets(chainId: number, options?: CallOptions): Promise<readonly unknown[]> {
    const all: unknown[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const body = await apyHttp.request({
        path: '/v2/markets/all',
        maxBytes: CATALOG_BYTES,
        query: { isActive: 'true', chainId: String(chainId), limit: String(PAGE_SIZE), skip: String(all.length) },
        scope: String(chainId),
        signal: options?.signal,
      });
      const { markets, total } = apyHttp.parse(marketsSchema, body);
      all.push(...markets);
      const isLast = total === undefined ? markets.length < PAGE_SIZE : all.length >= total;
      if (isLast || markets.length === 0) return all;
    }
    apyHttp.reportDropped('pages beyond the bound', 1);
    return all;
  }
  return {
    apys: {
      name: 'yieldmarket',
      async apys(chain, tokens, options) {
        if (tokens.length === 0) return { values: new Map(), failures: new Map() };
        if (chain.providers.pendle !== true) {
          return { values: new Map(), failures: new Map(tokens.map(({ address }) => [address, 'not_configured'])) };
        }
        const { dropped, ...batch } = mapApys(chain, tokens, await allMarkets(chain.chainId, options));
        apyHttp.reportDropped('markets', dropped);
        return batch;
      },
    },
    quotes: {
      source: 'YieldMarket',
      serves: ({ chain, tokenIn, tokenOut }) =>
        chain.providers.pendle === true &&
        chain.tokens.some(({ isPt, address }) => isPt && (address === tokenIn || address === tokenOut)),
      async quote(request, options) {
        const expiresAtMs = quoteExpiry(deps.clock.now());
        const body = await swapHttp.request({
          path: '/v3/sdk/:chainId/convert',
          cost: CONVERT_UNITS,
          params: { chainId: String(request.chain.chainId) },
          post: {
            receiver: request.recipient,
            slippage: request.slippage.toNumber(),
            enableAggregator: true,
            aggregators: [AGGREGATOR],
            ...feeFields(request),
            inputs: [{ token: request.tokenIn, amount: request.amountIn.toString() }],
            outputs: [request.tokenOut],
          },
          documented: convertCodes,
          patienceMs: QUOTE_REQUEST_MS[options?.purpose ?? 'preview'],
          scope: String(request.chain.chainId),
          signal: options?.signal,
        });
        if (body === ABSENT) return null;
        const quote = mapConvert(request, swapHttp.parse(convertSchema, body), expiresAtMs);
        if (typeof quote === 'string') throw swapHttp.error(quote);
        return quote;
      },
    },
  };
}

/** The referral fee, which the named aggregator takes. A conversion without an aggregator has no fee. */
function feeFields(request: SwapRequest): Readonly<Record<string, unknown>> {
  const { feeBps, feeReceiver } = request;
  if (feeBpsOf(request) === 0 || feeReceiver === undefined) return {};
  return {
    kyberSwapParams: {
      routes: { chargeFeeBy: 'currency_in', feeAmount: String(feeBps), feeReceiver, isInBps: true },
    },
  };
}

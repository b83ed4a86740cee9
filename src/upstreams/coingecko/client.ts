import { ABSENT, type AdapterDeps, createHttp, createProviderBudget, LIST_BYTES, REFUSED } from '../http.ts';
import { askPrices } from '../prices.ts';
import type { PriceChartPort, PricePort } from '../types.ts';
import { mapPriceChart, mapPrices } from './map.ts';
import { marketChartSchema, simplePriceSchema } from './schema.ts';

/**
 * Share of the provider's budget for charts, which any caller may request. The rest is reserved for prices, which all USD values
 * depend on.
 */
const CHART_SHARE = 0.8;
/** An unknown coin is a 404, and the number of days is validated here, so these statuses mean an unknown currency. */
const UNKNOWN_CURRENCY_STATUSES = [400, 422];

/** Read USD prices and price charts. */
export function createCoingecko(deps: AdapterDeps): { prices: PricePort; charts: PriceChartPort } {
  const { apiKey, baseUrl } = deps.config;
  // Paid keys belong to the pro host and its header; the provider refuses either with the other.
  const header = baseUrl.includes('//pro-api.') ? 'x-cg-pro-api-key' : 'x-cg-demo-api-key';
  const common = {
    ...deps,
    publicName: 'coingecko',
    secrets: apiKey === undefined ? {} : { headers: { [header]: apiKey } },
  };
  const http = createHttp({
    ...common,
    provider: 'coingecko',
    part: 'prices',
    budget: createProviderBudget(deps, 'coingecko', { share: 1 - CHART_SHARE }),
  });
  const onDemand = createHttp({
    ...common,
    provider: 'coingecko-charts',
    part: 'charts',
    isWaitedFor: true,
    budget: createProviderBudget(deps, 'coingecko-charts', { share: CHART_SHARE, isWaitedFor: true }),
  });
  return {
    prices: {
      name: 'coingecko',
      usdPrices: (tokens, options) =>
        askPrices(tokens, async (ids, batchTokens) => {
          const body = await http.request({
            path: '/simple/price',
            query: { vs_currencies: 'usd', include_last_updated_at: 'true', ids: ids.join(',') },
            signal: options?.signal,
          });
          return mapPrices(batchTokens, http.parse(simplePriceSchema, body), deps.clock.now());
        }),
    },
    charts: {
      async chart(coinId, days, currency, options) {
        const body = await onDemand.request({
          path: '/coins/:id/market_chart',
          maxBytes: LIST_BYTES,
          params: { id: coinId },
          query: { vs_currency: currency, days: String(days) },
          absentOn: [404],
          refusedOn: UNKNOWN_CURRENCY_STATUSES,
          signal: options?.signal,
        });
        if (body === ABSENT) return null;
        if (body === REFUSED) return 'unknown_currency';
        const answer = onDemand.parse(marketChartSchema, body);
        const { chart, dropped } = mapPriceChart(answer, deps.clock.now());
        onDemand.reportDropped('points', dropped);
        if (chart.prices.length === 0) throw onDemand.error(answer.prices.length === 0 ? 'missing' : 'malformed');
        return chart;
      },
    },
  };
}

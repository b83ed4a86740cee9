import { ABSENT, type AdapterDeps, createHttp } from '../http.ts';
import { askPrices } from '../prices.ts';
import type { PriceChartPort, PricePort } from '../types.ts';
import { mapChart, mapPrices } from './map.ts';
import { marketChartSchema, simplePriceSchema } from './schema.ts';

/** Read USD prices and price charts. */
export function createCoingecko(deps: AdapterDeps): { prices: PricePort; charts: PriceChartPort } {
  const { apiKey, baseUrl } = deps.config;
  // Paid keys belong to the pro host and its header; the provider refuses either with the other.
  const header = baseUrl.includes('//pro-api.') ? 'x-cg-pro-api-key' : 'x-cg-demo-api-key';
  const http = createHttp({
    ...deps,
    provider: 'coingecko',
    publicName: 'coingecko',
    secrets: apiKey === undefined ? {} : { headers: { [header]: apiKey } },
  });
  return {
    prices: {
      name: 'coingecko',
      usdPrices: (tokens, options) =>
        askPrices(tokens, async (ids, asked) => {
          const body = await http.request({
            path: '/simple/price',
            query: { vs_currencies: 'usd', ids: ids.join(',') },
            signal: options?.signal,
          });
          return mapPrices(asked, http.parse(simplePriceSchema, body));
        }),
    },
    charts: {
      async chart(coinId, days, currency, options) {
        const body = await http.request({
          path: '/coins/:id/market_chart',
          params: { id: coinId },
          query: { vs_currency: currency, days: String(days) },
          absentOn: [404],
          signal: options?.signal,
        });
        if (body === ABSENT) return null;
        const answer = http.parse(marketChartSchema, body);
        const { chart, dropped } = mapChart(answer);
        http.reportDropped('points', dropped);
        if (chart.prices.length === 0) throw http.error(answer.prices.length === 0 ? 'missing' : 'malformed');
        return chart;
      },
    },
  };
}

import {
  ABSENT,
  type AdapterDeps,
  createHttp,
  createProviderBudget,
  type Documented,
  LIST_BYTES,
  REFUSED,
} from '../http.ts';
import { askPrices } from '../prices.ts';
import { providerCode } from '../provider-code.ts';
import type { PriceChartPort, PricePort } from '../types.ts';
import { mapPriceChart, mapPrices } from './map.ts';
import { chartRefusalSchema, marketChartSchema, simplePriceSchema } from './schema.ts';

/** A refusal with status 200 has the provider's code, and no price of a coin. */
const answeredCodes: Documented = ({ status, body }) => {
  const code = status < 400 ? providerCode(body) : undefined;
  return code === undefined ? undefined : code === 429 ? 'rate_limited' : 'rejected';
};

/** The words of the provider, in full: anything else with such a status, as for a key of another plan, is our mistake. */
const chartCodes: Documented = ({ status, body }) => {
  const { error } = chartRefusalSchema.safeParse(body).data ?? {};
  if (status < 400) return answeredCodes({ status, body });
  if (status === 404) return error === 'coin not found' ? ABSENT : undefined;
  return (status === 400 || status === 422) && error === 'invalid vs_currency' ? REFUSED : undefined;
};

/** Read USD prices and price charts. */
export function createCoingecko(deps: AdapterDeps): { prices: PricePort; charts: PriceChartPort } {
  const { apiKey, baseUrl } = deps.config;
  // Paid keys belong to the pro host and its header; the provider refuses either with the other.
  const header = baseUrl.includes('//pro-api.') ? 'x-cg-pro-api-key' : 'x-cg-demo-api-key';
  const common = {
    ...deps,
    budget: deps.budget ?? createProviderBudget(deps),
    publicName: 'coingecko',
    secrets: apiKey === undefined ? {} : { headers: { [header]: apiKey } },
  };
  const http = createHttp({
    ...common,
    provider: 'coingecko',
    part: 'prices',
  });
  const onDemand = createHttp({
    ...common,
    provider: 'coingecko-charts',
    part: 'charts',
    isWaitedFor: true,
  });
  return {
    prices: {
      name: 'coingecko',
      usdPrices: (tokens, options) =>
        askPrices(tokens, async (ids, batchTokens) => {
          const body = await http.request({
            path: '/simple/price',
            query: { vs_currencies: 'usd', include_last_updated_at: 'true', ids: ids.join(',') },
            documented: answeredCodes,
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
          documented: chartCodes,
          isUnlisted: options?.isUnlisted,
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

import { type AdapterDeps, createHttp } from '../http.ts';
import { askPrices } from '../prices.ts';
import type { PricePort } from '../types.ts';
import { coinKey, mapPrices } from './map.ts';
import { pricesSchema } from './schema.ts';

/** Read USD prices from the fallback provider, by the same coin ids as the primary provider. */
export function createDefillamaCoins(deps: AdapterDeps): PricePort {
  const http = createHttp({ ...deps, provider: 'defillama-coins', publicName: 'defillama' });
  return {
    name: 'defillama',
    usdPrices: (tokens, options) =>
      askPrices(tokens, async (ids, batchTokens) => {
        const body = await http.request({
          path: '/prices/current/:coins',
          params: { coins: ids.map(coinKey).join(',') },
          signal: options?.signal,
        });
        return mapPrices(batchTokens, http.parse(pricesSchema, body), deps.clock.now());
      }),
  };
}

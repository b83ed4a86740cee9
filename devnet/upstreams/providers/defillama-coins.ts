import { matchPath, ok } from '../respond.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';
import { pricedCoins } from './coingecko.ts';

/** Thinly traded: its price has too little confidence to be used. */
const LOW_CONFIDENCE: Readonly<Record<string, number>> = { snusd: 0.55 };
const CONFIDENCE = 0.99;
const PREFIX = 'coingecko:';

export const defillamaCoins: SimulatedProvider = {
  base: '/defillama-coins',
  handle,
  shape: { values: ['price'], times: ['timestamp'], record: ['coins'] },
  refusal: (_status, message) => ({ message }),
};

async function handle(request: SimRequest, world: World): Promise<SimResponse> {
  const keys = matchPath('/prices/current/{coins}', request.path)?.coins;
  if (request.method !== 'GET' || keys === undefined) return { status: 404, body: { message: 'Not Found' } };
  const requested = keys.split(',').filter((key) => key.startsWith(PREFIX));
  const coins = await pricedCoins(
    world,
    requested.map((key) => key.slice(PREFIX.length)),
  );
  const timestamp = Math.floor(world.clock.now() / 1000) - 37;
  return ok({
    coins: Object.fromEntries(
      requested.flatMap((key) => {
        const coin = coins.get(key.slice(PREFIX.length));
        if (coin === undefined) return []; // unknown coins are left out
        const confidence = LOW_CONFIDENCE[coin.id] ?? CONFIDENCE;
        return [[key, { price: coin.usd, symbol: coin.symbol.toUpperCase(), timestamp, confidence }]];
      }),
    ),
  });
}

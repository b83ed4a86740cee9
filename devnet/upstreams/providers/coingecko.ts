import type { Token } from '../../../src/catalog/index.ts';
import { matchPath, ok } from '../respond.ts';
import { DAY_MS, fraction, priceAt } from '../series.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

/** Units of the currency per USD. */
const CURRENCIES: Readonly<Record<string, number>> = { usd: 1, eur: 0.92, gbp: 0.79 };
const MINUTE_MS = 60_000;
const MAX_DAYS = 365;
/** Swing of a price around its trend, by category; small for others. */
const SWING: Readonly<Record<string, number>> = { ETH: 0.12, BTC: 0.1, Other: 0.15, stocks: 0.06 };
const CALM_SWING = 0.001;
const SEEN_SEC_AGO = 12;

export interface PricedCoin {
  readonly id: string;
  readonly symbol: string;
  readonly usd: number;
  readonly token: Token;
}

export const coingecko: SimulatedProvider = {
  base: '/coingecko/api/v3',
  handle,
  shape: { values: ['usd', 'prices'], times: ['last_updated_at'], record: [] },
  refusal: (status, message) => ({ status: { error_code: status, error_message: message } }),
};

function handle(request: SimRequest, world: World): SimResponse | Promise<SimResponse> {
  if (request.method !== 'GET') return error(404, 'Not Found');
  if (request.path === '/simple/price') return simplePrice(request.query, world);
  const id = matchPath('/coins/{id}/market_chart', request.path)?.id;
  return id === undefined ? error(404, 'Not Found') : marketChart(id, request.query, world);
}

/** Price the coins with these ids; unknown ids are left out. */
export async function pricedCoins(world: World, ids: readonly string[]): Promise<ReadonlyMap<string, PricedCoin>> {
  const wanted = new Set(ids);
  const tokens = world.catalog.chains
    .flatMap((chain) => chain.tokens)
    .filter(({ coingeckoId }) => coingeckoId !== undefined && wanted.has(coingeckoId));
  const prices = await world.pricesUsd(tokens);
  return new Map(
    tokens.map((token) => {
      const id = token.coingeckoId ?? '';
      return [id, { id, symbol: token.symbol, usd: prices.get(token)?.toNumber() ?? 0, token }];
    }),
  );
}

/** Swing of a token's price around its trend, as a fraction. */
export function swingOf(token: Token, usd: number): number {
  const dollarLike = token.category === 'Other' && usd > 0.9 && usd < 1.1;
  return dollarLike ? CALM_SWING : (SWING[token.category] ?? CALM_SWING);
}

async function simplePrice(query: URLSearchParams, world: World): Promise<SimResponse> {
  const ids = list(query.get('ids'));
  const currencies = list(query.get('vs_currencies'));
  if (ids.length === 0 || currencies.length === 0) return error(422, 'Missing parameter ids or vs_currencies');
  const observed = query.get('include_last_updated_at') === 'true' ? [['last_updated_at', observedSec(world)]] : [];
  const coins = await pricedCoins(world, ids);
  return ok(
    Object.fromEntries(
      [...coins.values()].map(({ id, usd }) => [
        id,
        Object.fromEntries([
          ...currencies.flatMap((currency) => {
            const rate = CURRENCIES[currency];
            return rate === undefined ? [] : [[currency, usd * rate]];
          }),
          ...observed,
        ]),
      ]),
    ),
  );
}

/** Prices are some seconds old when they are returned. */
function observedSec(world: World): number {
  return Math.floor(world.clock.now() / 1_000) - SEEN_SEC_AGO;
}

async function marketChart(id: string, query: URLSearchParams, world: World): Promise<SimResponse> {
  const coin = (await pricedCoins(world, [id])).get(id);
  if (coin === undefined) return error(404, 'coin not found');
  const rate = CURRENCIES[query.get('vs_currency') ?? ''];
  if (rate === undefined) return error(422, 'invalid vs_currency');
  const requested = query.get('days') ?? '';
  const days = requested === 'max' ? MAX_DAYS : Number(requested);
  if (!(days > 0)) return error(422, 'Invalid days');
  if (days > MAX_DAYS) return error(401, 'Your request exceeds the allowed time range of 365 days.');

  const nowMs = world.clock.now();
  const step = query.get('interval') === 'daily' || days > 90 ? DAY_MS : days > 1 ? 60 * MINUTE_MS : 5 * MINUTE_MS;
  const apy = (world.apyPct(coin.token)?.toNumber() ?? 0) / 100;
  const options = { apy, swing: swingOf(coin.token, coin.usd), nowMs, startedMs: world.startedMs };
  const supply = 1e7 + fraction(`supply ${id}`) * 1e9;
  const first = Math.ceil((nowMs - days * DAY_MS) / step) * step;
  const times = Array.from({ length: Math.ceil((nowMs - first) / step) }, (_, i) => first + i * step);
  const series = (value: (atMs: number, price: number) => number) =>
    [...times, nowMs].map((atMs) => [atMs, value(atMs, priceAt(id, coin.usd * rate, atMs, options))]);
  return ok({
    prices: series((_at, price) => price),
    market_caps: series((_at, price) => price * supply),
    total_volumes: series((at, price) => price * supply * (0.02 + 0.01 * Math.sin(at / 3e7))),
  });
}

function list(text: string | null): string[] {
  return (text ?? '').split(',').filter((part) => part !== '');
}

function error(status: number, message: string): SimResponse {
  return { status, body: { error: message } };
}

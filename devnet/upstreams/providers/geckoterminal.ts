import type { Chain, Token } from '../../../src/catalog/index.ts';
import { type DexPool, dexPools, poolsOf } from '../dex-pools.ts';
import { addressOf, matchPath, ok, tokenOf } from '../respond.ts';
import { fraction, priceAt, round } from '../series.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';
import { swingOf } from './coingecko.ts';

/** Seconds of a timeframe, and how many of them one candle may hold. */
const TIMEFRAMES: Readonly<Record<string, { readonly sec: number; readonly aggregates: readonly number[] }>> = {
  minute: { sec: 60, aggregates: [1, 5, 15] },
  hour: { sec: 3_600, aggregates: [1, 4, 12] },
  day: { sec: 86_400, aggregates: [1] },
};
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** A pool is indexed since then, days before the world began. */
const LISTED_DAYS = 400;
/** In a thin pool some minutes pass without a trade: they have no candle. */
const THIN_RESERVE_USD = 1_000_000;

export const geckoterminal: SimulatedProvider = {
  base: '/geckoterminal/api/v2',
  handle,
  shape: { values: ['reserve_in_usd', 'address', 'ohlcv_list'] },
  refusal: (status, message) => ({ errors: [{ status: String(status), title: message }] }),
};

async function handle(request: SimRequest, world: World): Promise<SimResponse> {
  if (request.method !== 'GET') return error(404, 'Not Found');
  const byToken = matchPath('/networks/{network}/tokens/{address}/pools', request.path);
  const byPool = matchPath('/networks/{network}/pools/{pool}/ohlcv/{timeframe}', request.path);
  const network = (byToken ?? byPool)?.network;
  const chain = world.catalog.chains.find(
    ({ providers }) => network !== undefined && providers.geckoterminal === network,
  );
  if (chain === undefined || network === undefined) return error(404, 'Not Found');
  if (byToken !== undefined) return tokenPools(byToken.address ?? '', request.query, network, chain, world);
  return candles(byPool?.pool ?? '', byPool?.timeframe ?? '', request.query, chain, world);
}

async function tokenPools(
  address: string,
  query: URLSearchParams,
  network: string,
  chain: Chain,
  world: World,
): Promise<SimResponse> {
  const token = tokenOf(chain, address);
  const pools = token === undefined ? [] : poolsOf(chain, token);
  if (pools.length === 0) return error(404, 'Not Found');
  const page = Number(query.get('page') ?? 1);
  if (page !== 1) return ok({ data: [] });
  const prices = await world.pricesUsd([...new Set(pools.flatMap(({ base, quote }) => [base, quote]))]);
  const usd = (side: Token) => prices.get(side)?.toNumber() ?? 0;
  return ok({ data: pools.map((pool) => poolBody(pool, network, usd, world)) });
}

function poolBody(pool: DexPool, network: string, usd: (token: Token) => number, world: World): unknown {
  const { base, quote, address, name, dex, reserveUsd } = pool;
  const id = (of: string) => `${network}_${of.toLowerCase()}`;
  const related = (to: string, type: string) => ({ data: { id: to, type } });
  const volume = reserveUsd * (0.05 + fraction(`volume ${address}`) * 0.4);
  const ratio = usd(base) / usd(quote);
  return {
    id: id(address),
    type: 'pool',
    attributes: {
      base_token_price_usd: String(usd(base)),
      base_token_price_native_currency: null,
      quote_token_price_usd: String(usd(quote)),
      quote_token_price_native_currency: null,
      base_token_price_quote_token: ratio.toPrecision(10),
      quote_token_price_base_token: (1 / ratio).toPrecision(10),
      address: address.toLowerCase(),
      name,
      pool_created_at: new Date(world.startedMs - LISTED_DAYS * 86_400_000).toISOString(),
      fdv_usd: String(Math.round(reserveUsd * 40)),
      market_cap_usd: null,
      price_change_percentage: { m5: '0', h1: '0.01', h6: '-0.02', h24: '0.04' },
      transactions: { h24: { buys: 312, sells: 287, buyers: 140, sellers: 121 } },
      volume_usd: {
        m5: String(round(volume / 288, 2)),
        h1: String(round(volume / 24, 2)),
        h24: String(round(volume, 2)),
      },
      reserve_in_usd: reserveUsd.toFixed(4),
    },
    relationships: {
      base_token: related(id(base.address), 'token'),
      quote_token: related(id(quote.address), 'token'),
      dex: related(dex, 'dex'),
    },
  };
}

async function candles(
  poolAddress: string,
  timeframe: string,
  query: URLSearchParams,
  chain: Chain,
  world: World,
): Promise<SimResponse> {
  const pool = dexPools(chain).find(({ address }) => address === addressOf(poolAddress));
  if (pool === undefined) return error(404, 'Not Found');
  const frame = TIMEFRAMES[timeframe];
  if (frame === undefined) return error(400, 'Invalid timeframe');
  const aggregate = Number(query.get('aggregate') ?? 1);
  if (!frame.aggregates.includes(aggregate)) return error(400, 'Invalid value for aggregate');
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) return error(400, 'Invalid value for limit');
  const currency = query.get('currency') ?? 'usd';
  if (currency !== 'usd' && currency !== 'token') return error(400, 'Invalid value for currency');
  const side = sideOf(pool, query.get('token') ?? 'base');
  if (side === undefined) return error(400, 'Invalid value for token');

  const prices = await world.pricesUsd([pool.base, pool.quote]);
  const usd = (token: Token) => prices.get(token)?.toNumber() ?? 0;
  const other = side === pool.base ? pool.quote : pool.base;
  const priced = currency === 'usd' ? usd(side) : usd(side) / usd(other);
  const before = Number(query.get('before_timestamp') ?? Math.floor(world.clock.now() / 1000));
  return ok({
    data: {
      id: requestId(pool, timeframe, aggregate),
      type: 'ohlcv_request_response',
      attributes: { ohlcv_list: candleRows(pool, side, priced, frame.sec * aggregate, before, limit, world) },
    },
    meta: { base: tokenMeta(pool.base), quote: tokenMeta(pool.quote) },
  });
}

/** Rows `[t s, o, h, l, c, v]`, newest first; intervals without a trade have none. */
function candleRows(
  pool: DexPool,
  token: Token,
  present: number,
  stepSec: number,
  beforeSec: number,
  limit: number,
  world: World,
): number[][] {
  const options = {
    apy: (world.apyPct(token)?.toNumber() ?? 0) / 100,
    swing: swingOf(token, present),
    nowMs: world.clock.now(),
    startedMs: world.startedMs,
  };
  const at = (sec: number) => priceAt(token.symbol, present, sec * 1000, options);
  const oldest = world.startedMs / 1000 - LISTED_DAYS * 86_400;
  const thin = pool.reserveUsd < THIN_RESERVE_USD && stepSec < 3_600;
  const rows: number[][] = [];
  for (let t = Math.floor(beforeSec / stepSec) * stepSec; t >= oldest && rows.length < limit; t -= stepSec) {
    const chance = fraction(`${pool.address} ${t}`);
    if (thin && chance < 0.1) continue;
    const open = at(t);
    const close = at(Math.min(t + stepSec, options.nowMs / 1000));
    const spread = 0.0004 + chance * options.swing * 0.02;
    const volume = (pool.reserveUsd * 0.2 * stepSec * (0.5 + chance)) / 86_400;
    rows.push([t, open, Math.max(open, close) * (1 + spread), Math.min(open, close) * (1 - spread), close, volume]);
  }
  return rows;
}

function sideOf({ base, quote }: DexPool, which: string): Token | undefined {
  if (which === 'base') return base;
  if (which === 'quote') return quote;
  return [base, quote].find(({ address }) => address === addressOf(which));
}

function tokenMeta({ address, name, symbol, coingeckoId }: Token): unknown {
  return { address: address.toLowerCase(), name, symbol, coingecko_coin_id: coingeckoId ?? null };
}

function requestId(pool: DexPool, timeframe: string, aggregate: number): string {
  const digits = Math.floor(fraction(`${pool.address} ${timeframe} ${aggregate}`) * 2 ** 32).toString(16);
  return `${digits.padStart(8, '0')}-ohlcv-${timeframe}-${aggregate}`;
}

function error(status: number, title: string): SimResponse {
  return { status, body: { errors: [{ status: String(status), title }] } };
}

import type { Token } from '../../../src/catalog/index.ts';
import { labelAddress } from '../../seed/accounts.ts';
import { matchPath, ok } from '../respond.ts';
import { dailySeries, fraction, round, type SeriesPoint } from '../series.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

const HISTORY_DAYS = 180;

interface Pool {
  readonly id: string;
  readonly asset: string;
  readonly name: string;
  readonly apyPct: number;
}

/** Pools of the index without a curated token. */
const OTHERS: readonly Pool[] = [
  { id: labelAddress('index sfrxUSD'), asset: 'sfrxUSD', name: 'Staked Frax USD', apyPct: 5.41 },
  { id: labelAddress('index USDY'), asset: 'USDY', name: 'Ondo US Dollar Yield', apyPct: 4.1 },
  { id: labelAddress('index sUSDf'), asset: 'sUSDf', name: 'Staked Falcon USD', apyPct: 8.02 },
];

export const stablewatch: SimulatedProvider = {
  base: '/stablewatch/api',
  handle,
  shape: { values: ['avg7d', 'apy'], times: ['timestamp'] },
  refusal: (_status, message) => ({ success: false, error: message }),
};

function handle(request: SimRequest, world: World): SimResponse {
  if (request.method !== 'GET') return error(404, 'Not Found');
  if (request.path === '/pools') return ok({ success: true, data: pools(world).map((pool) => poolBody(pool, world)) });
  const id = matchPath('/history/{id}', request.path)?.id;
  const pool = id === undefined ? undefined : pools(world).find((candidate) => sameId(candidate.id, id));
  if (pool === undefined) return error(404, 'Pool not found');
  return ok({
    success: true,
    data: {
      id: pool.id,
      asset: pool.asset,
      data: days(pool, world).map(({ atMs, value }) => ({ timestamp: new Date(atMs).toISOString(), apy: value })),
    },
  });
}

function pools(world: World): Pool[] {
  const listed = world.catalog.chains
    .flatMap(({ tokens }) => tokens)
    .filter(({ apySource, stableIndexId }) => apySource === 'stableindex' && stableIndexId !== undefined);
  return [...listed.map((token) => poolOf(token, world)), ...OTHERS];
}

function poolOf(token: Token, world: World): Pool {
  const { stableIndexId, symbol, name } = token;
  return { id: stableIndexId ?? '', asset: symbol, name, apyPct: world.apyPct(token)?.toNumber() ?? 0 };
}

function poolBody(pool: Pool, world: World): unknown {
  const points = days(pool, world).map(({ value }) => value);
  return {
    id: pool.id,
    asset: pool.asset,
    name: pool.name,
    chains: ['ethereum'],
    metrics: {
      apy: {
        current: points.at(-1),
        avg7d: average(points, 7),
        avg30d: average(points, 30),
        avg90d: average(points, 90),
      },
      tvl: { usd: Math.round(20_000_000 + fraction(pool.id) * 900_000_000) },
    },
    updatedAt: new Date(world.clock.now()).toISOString(),
  };
}

function days(pool: Pool, world: World): SeriesPoint[] {
  return dailySeries(`apy ${pool.asset}`, pool.apyPct, HISTORY_DAYS, world.clock.now(), world.startedMs);
}

function average(points: readonly number[], count: number): number {
  const last = points.slice(-count);
  return round(last.reduce((sum, value) => sum + value, 0) / last.length, 6);
}

function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function error(status: number, message: string): SimResponse {
  return { status, body: { success: false, error: message } };
}

import type { Token } from '../../../src/catalog/index.ts';
import { matchPath, ok } from '../respond.ts';
import { dailySeries, fraction, round } from '../series.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

const HISTORY_DAYS = 180;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const defillamaYields: SimulatedProvider = {
  base: '/defillama-yields',
  handle,
  shape: { values: ['apy'], times: ['timestamp'] },
  refusal: (_status, message) => ({ message }),
};

function handle(request: SimRequest, world: World): SimResponse {
  const pool = matchPath('/chart/{pool}', request.path)?.pool;
  if (request.method !== 'GET' || pool === undefined) return { status: 404, body: { message: 'Not Found' } };
  const token = poolToken(world, pool);
  if (token === undefined) {
    // A well-formed id that it never indexed is an empty chart, not an error.
    return UUID.test(pool) ? ok({ status: 'success', data: [] }) : { status: 404, body: { message: 'pool not found' } };
  }
  const apy = world.apyPct(token)?.toNumber() ?? 0;
  const tvlUsd = 20_000_000 + fraction(pool) * 400_000_000;
  const nowMs = world.clock.now();
  const days = dailySeries(`apy ${token.symbol}`, apy, HISTORY_DAYS, nowMs, world.startedMs);
  return ok({
    status: 'success',
    data: days.map(({ atMs, value }) => ({
      // Sampled near the end of its day; today's row is the latest sample.
      timestamp: new Date(Math.min(atMs + 82_860_000, nowMs)).toISOString(),
      tvlUsd: Math.round(tvlUsd * (1 + 0.02 * Math.sin(atMs / 1e9))),
      apy: value,
      apyBase: round(value, 9),
      apyReward: null,
      il7d: null,
      apyBase7d: null,
    })),
  });
}

function poolToken(world: World, pool: string): Token | undefined {
  return world.catalog.chains.flatMap(({ tokens }) => tokens).find(({ defillamaId }) => defillamaId === pool);
}

import type { Token } from '../../../src/catalog/index.ts';
import { matchPath, ok } from '../respond.ts';
import { dailySeries, round } from '../series.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

const CHART_DAYS = 125;
/** The chart starts before the vault; these days are zeros. */
const ZERO_DAYS = 25;

export const royco: SimulatedProvider = {
  base: '/royco/api/v1',
  handle,
  shape: { values: ['apy7d', 'value'], times: ['blockTimestamp'] },
  refusal: (status, message) => ({ statusCode: status, message }),
};

function handle(request: SimRequest, world: World): SimResponse {
  const chart = matchPath('/chart/vault/apy/{chainId}/{address}/3m', request.path);
  const info = matchPath('/vault/info/{chainId}/{address}', request.path);
  const requested = chart ?? info;
  if (request.method !== 'GET' || requested === undefined) return notFound(`Cannot ${request.method} ${request.path}`);
  const vault = vaultToken(world, requested);
  if (vault === undefined) return notFound('Vault not found');
  const level = (world.apyPct(vault)?.toNumber() ?? 0) / 100;
  const series = dailySeries(`apy ${vault.symbol}`, level, CHART_DAYS, world.clock.now(), world.startedMs);
  const points = series.map(({ atMs, value }, i) => ({
    blockTimestamp: atMs / 1000,
    value: i < ZERO_DAYS ? 0 : value,
  }));
  if (chart !== undefined) return ok({ page: { index: 1, size: points.length, total: 1 }, data: points });
  const average = (days: number) => round(points.slice(-days).reduce((sum, { value }) => sum + value, 0) / days, 9);
  return ok({
    id: `${vault.chainId}_${vault.address.toLowerCase()}`,
    chainId: vault.chainId,
    vaultAddress: vault.address.toLowerCase(),
    name: vault.name,
    symbol: vault.symbol,
    apy: points.at(-1)?.value,
    apy7d: average(7),
    apy30d: average(30),
    tvlUsd: 41_250_000,
    updatedAt: new Date(world.clock.now()).toISOString(),
  });
}

/** It accepts addresses in lower case only. */
function vaultToken(world: World, { chainId, address }: Record<string, string>): Token | undefined {
  return world.catalog
    .chain(Number(chainId))
    ?.tokens.find((token) => token.apySource === 'incentivemarket' && token.address.toLowerCase() === address);
}

function notFound(message: string): SimResponse {
  return { status: 404, body: { statusCode: 404, message, error: 'Not Found' } };
}

import type { Token } from '../../catalog/types.ts';
import type { CollateralApy } from '../../domain/facts.ts';
import { gather, toBatch } from '../batch.ts';
import { type AdapterDeps, createHttp, LIST_BYTES } from '../http.ts';
import type { Batch, CallOptions, CollateralApySourcePort } from '../types.ts';
import { mapApyChart } from './map.ts';
import { chartSchema } from './schema.ts';

/** Read the daily yield of each token's pool, one request per pool. */
export function createDefillamaYields(deps: AdapterDeps): CollateralApySourcePort {
  const http = createHttp({ ...deps, provider: 'defillama-yields', publicName: 'aggregator' });

  async function ask(token: Token, options?: CallOptions): Promise<Batch<CollateralApy>> {
    if (token.defillamaId === undefined) return toBatch([[token.address, { ok: false, reason: 'not_configured' }]]);
    const body = await http.request({
      path: '/chart/:pool',
      maxBytes: LIST_BYTES,
      params: { pool: token.defillamaId },
      signal: options?.signal,
    });
    const { apy, dropped } = mapApyChart(http.parse(chartSchema, body), deps.clock.now());
    http.reportDropped('points', dropped);
    return toBatch([[token.address, apy]]);
  }

  return {
    name: 'aggregator',
    apys: (_chain, tokens, options) =>
      gather(
        tokens,
        (token) => [token.address],
        (token) => ask(token, options),
      ),
  };
}

import type { StableIndexPool } from '../../domain/facts.ts';
import type { RateHistory } from '../../shared/rate-history.ts';
import { gather, toBatch } from '../batch.ts';
import { UpstreamError } from '../errors.ts';
import { type AdapterDeps, CATALOG_BYTES, createHttp, LIST_BYTES } from '../http.ts';
import type { Batch, CallOptions, StableIndexPort } from '../types.ts';
import { averageOf, mapHistory, mapPools, type PoolHead } from './map.ts';
import { historySchema, indexPoolsSchema } from './schema.ts';

/** History of a pool whose history was not requested, or not given: what is known of it stays. */
const NONE: RateHistory = [];

/**
 * Read the stablecoin yield index. A pool whose requested history failed fails as a whole, so that it is never published in
 * part, unless the index refuses it.
 */
export function createStablewatch(deps: AdapterDeps): StableIndexPort {
  const { apiKey } = deps.config;
  const http = createHttp({
    ...deps,
    provider: 'stablewatch',
    publicName: 'stableindex',
    secrets: apiKey === undefined ? {} : { query: { api_key: apiKey } },
  });

  async function withHistory(head: PoolHead, options?: CallOptions): Promise<Batch<StableIndexPool>> {
    const body = await http
      .request({ path: '/history/:id', maxBytes: LIST_BYTES, params: { id: head.id }, signal: options?.signal })
      .catch((error: unknown) => {
        // Some pools have none. A refusal of all of them stays a failure in the state of the provider.
        if (error instanceof UpstreamError && error.reason === 'rejected') return null;
        throw error;
      });
    if (body === null) return toBatch([[head.id, { ok: true, value: { ...head, history: NONE } }]]);
    const { history, dropped } = mapHistory(http.parse(historySchema, body), deps.clock.now());
    http.reportDropped('points', dropped);
    return toBatch([[head.id, { ok: true, value: { ...head, avg7dPct: averageOf(head, history), history } }]]);
  }

  return {
    async pools(wanted, options) {
      const body = await http.request({ path: '/pools', maxBytes: CATALOG_BYTES, signal: options?.signal });
      const { pools, assets, dropped } = mapPools(http.parse(indexPoolsSchema, body).data);
      http.reportDropped('pools', dropped);
      if (pools.size === 0) throw http.error(dropped > 0 ? 'malformed' : 'missing');
      const heads = [...pools.values()].flatMap((pool) => (pool.ok ? [pool.value] : []));
      const histories = await gather(
        heads.filter(wanted),
        (head) => [head.id],
        (head) => withHistory(head, options),
      );
      const others = heads
        .filter((head) => !wanted(head))
        .map((head) => [head.id, { ...head, history: NONE }] as const);
      const failed = [...pools].flatMap(([id, pool]) => (pool.ok ? [] : [[id, pool.reason] as const]));
      const failures = new Map([...failed, ...histories.failures]);
      const values = new Map([...others, ...histories.values]);
      if (failures.size === 0) return { values, failures };
      return { values, failures, failedAssets: new Map([...assets].filter(([id]) => failures.has(id))) };
    },
  };
}

import { ABSENT, type AdapterDeps, createHttp, type Documented } from '../http.ts';
import type { OhlcvPort } from '../types.ts';
import { mapCandles, mapDeepestPool } from './map.ts';
import { dexPoolsSchema, ohlcvSchema, refusalSchema } from './schema.ts';

/** A token without an indexed pool is a 404 with the provider's own errors; one of a proxy or of a path that has moved is none. */
const poolCodes: Documented = ({ status, body }) =>
  status === 404 && refusalSchema.safeParse(body).success ? ABSENT : undefined;

/** Read DEX pools of a token and candles of a pool. */
export function createGeckoterminal(deps: AdapterDeps): OhlcvPort {
  const http = createHttp({ ...deps, provider: 'geckoterminal', publicName: 'geckoterminal', isWaitedFor: true });
  return {
    async deepestPool(chain, token, options) {
      const network = chain.providers.geckoterminal;
      if (network === undefined) return null;
      const body = await http.request({
        path: '/networks/:network/tokens/:token/pools',
        params: { network, token: token.toLowerCase() },
        query: { page: '1' },
        documented: poolCodes,
        scope: network,
        isUnlisted: options?.isUnlisted,
        signal: options?.signal,
      });
      if (body === ABSENT) return null;
      const rows = http.parse(dexPoolsSchema, body).data;
      const { pool, dropped } = mapDeepestPool(network, token, rows);
      http.reportDropped('pools', dropped);
      if (pool === null && dropped > 0) throw http.error('malformed');
      return pool;
    },
    async candles(chain, pool, query, options) {
      const network = chain.providers.geckoterminal;
      if (network === undefined) throw http.error('not_configured');
      const body = await http.request({
        path: '/networks/:network/pools/:pool/ohlcv/:timeframe',
        params: { network, pool: pool.address, timeframe: query.timeframe },
        query: {
          aggregate: String(query.aggregate),
          limit: String(query.limit),
          currency: 'usd',
          token: pool.side,
        },
        scope: network,
        isUnlisted: options?.isUnlisted,
        signal: options?.signal,
      });
      const rows = http.parse(ohlcvSchema, body).data.attributes.ohlcv_list;
      const result = mapCandles(rows, pool.reserveUsd.toNumber(), deps.clock.now());
      http.reportDropped('candles', result.dropped);
      if (result.candles.length === 0 && rows.length > 0) throw http.error('malformed');
      return { ...result, candles: result.candles.slice(-query.limit) };
    },
  };
}

import { reasonOfStatus } from '../../domain/outside-answer.ts';
import type { MarketId } from '../../shared/ids.ts';
import { chunks, gather, toBatch } from '../batch.ts';
import { type AdapterDeps, createHttp, type Documented, LIST_BYTES } from '../http.ts';
import type { ParsedValue } from '../readings.ts';
import type { Batch, CallOptions, LendingIndexerPort } from '../types.ts';
import { mapBorrowHistory, mapSharedLiquidity } from './map.ts';
import { answerSchema, type IndexerAnswer, type IndexerError } from './schema.ts';

/** Markets per request, with and without their histories, by the provider's complexity limit. */
const MARKETS_PER_REQUEST = 30;
const HISTORIES_PER_REQUEST = 10;
/** Maximum number of repeats of a chunk without the markets that voided it. */
const MAX_ROUNDS = 4;

const SHARED_LIQUIDITY =
  'publicAllocatorSharedLiquidity { assets vault { address name publicAllocatorConfig { fee } } withdrawMarket { marketId } }';
const BORROW_HISTORY = 'historicalState { borrowApy { x y } }';

/** Codes of GraphQL for a query or a key that the provider does not accept. */
const REFUSED_CODES: readonly unknown[] = [
  'BAD_USER_INPUT',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
];

function isUnknownMarket({ message, extensions }: IndexerError): boolean {
  return extensions?.code === 'NOT_FOUND' || /not.?found|no results/i.test(String(message));
}

/** An answer with errors alone, of which none is about an unknown market, is a refusal, also with status 200. */
const refusal: Documented = ({ status, body }) => {
  const { data, errors = [] } = answerSchema.safeParse(body).data ?? {};
  if (status >= 400 || data || !errors?.length || errors.some(isUnknownMarket)) return undefined;
  const [{ message, extensions } = {}] = errors;
  const code = extensions?.code;
  if (/rate.?limit|too many|throttl/i.test(`${String(code)} ${String(message)}`)) return 'rate_limited';
  if (typeof code === 'number') return reasonOfStatus(code);
  return REFUSED_CODES.includes(code) ? 'rejected' : 'server_error';
};

/** Read the lending protocol's public indexer. */
export function createMorphoApi(deps: AdapterDeps): LendingIndexerPort {
  const { apiKey } = deps.config;
  const http = createHttp({
    ...deps,
    provider: 'morpho-api',
    publicName: 'indexer',
    secrets: apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } },
  });

  async function post(
    chainId: number,
    ids: readonly MarketId[],
    selection: string,
    options?: CallOptions,
  ): Promise<IndexerAnswer> {
    const fields = ids.map((id, i) => `m${i}: marketById(marketId: "${id}", chainId: ${chainId}) { ${selection} }`);
    const body = await http.request({
      path: '',
      maxBytes: LIST_BYTES,
      post: { query: `query Markets { ${fields.join(' ')} }` },
      documented: refusal,
      signal: options?.signal,
    });
    return http.parse(answerSchema, body);
  }

  /**
   * One chunk of markets. The provider's root field is not nullable: an unknown market voids the whole answer, and the error's
   * path names it. The chunk is then requested again without it, at most `MAX_ROUNDS` times.
   */
  async function ask<T>(
    chainId: number,
    ids: readonly MarketId[],
    selection: string,
    read: (market: unknown) => ParsedValue<T>,
    options?: CallOptions,
    rounds = MAX_ROUNDS,
  ): Promise<Batch<T>> {
    const { data, errors } = await post(chainId, ids, selection, options);
    if (data !== undefined && data !== null) return toBatch(ids.map((id, i) => [id, read(data[`m${i}`])]));
    const named = new Set((errors ?? []).filter(isUnknownMarket).map(({ path }) => path?.[0]));
    if (named.size === 0) throw http.error('malformed');
    const others = ids.filter((_, i) => !named.has(`m${i}`));
    const isHelpless = others.length === ids.length || rounds === 1;
    const retried =
      isHelpless || others.length === 0 ? null : await ask(chainId, others, selection, read, options, rounds - 1);
    const failed = isHelpless ? ids : ids.filter((id) => !others.includes(id));
    return {
      values: retried?.values ?? new Map(),
      failures: new Map([...failed.map((id) => [id, 'missing'] as const), ...(retried?.failures ?? [])]),
    };
  }

  return {
    sharedLiquidity: (chain, marketIds, options) =>
      gather(
        chunks(marketIds, MARKETS_PER_REQUEST),
        (ids) => ids,
        (ids) => ask(chain.chainId, ids, SHARED_LIQUIDITY, mapSharedLiquidity, options),
      ),
    borrowHistory: (chain, marketIds, options) =>
      gather(
        chunks(marketIds, HISTORIES_PER_REQUEST),
        (ids) => ids,
        (ids) =>
          ask(
            chain.chainId,
            ids,
            BORROW_HISTORY,
            (market) => {
              const { history, dropped } = mapBorrowHistory(market, deps.clock.now());
              http.reportDropped('points', dropped);
              return history;
            },
            options,
          ),
      ),
  };
}

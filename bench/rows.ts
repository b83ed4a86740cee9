import manifest from '../src/rest/generated/manifest.json' with { type: 'json' };
import type { Shot } from './load.ts';

/** The bytes of one answer, for servers that only write them. */
export interface RowBytes {
  readonly name: string;
  /** Path of the body. */
  readonly file: string;
  /** Headers that a client needs to read the body. */
  readonly headers: Readonly<Record<string, string>>;
  /** Every header of the service's answer that a server does not add by itself. */
  readonly head: Readonly<Record<string, string>>;
  readonly etag?: string | undefined;
}

/**
 * `bare` writes the body with the few headers that it needs; `same` writes all bytes of the service's answer; `deployed` is fastify
 * with the plugins that people deploy it with.
 */
export type Contender = 'service' | 'bare' | 'same' | 'hono' | 'fastify' | 'deployed' | 'yoga' | 'mercurius';

export interface Row {
  readonly name: string;
  readonly title: string;
  /** Request to the service. */
  readonly shot: Shot;
  /** The other contenders, and their requests if different. */
  readonly against: readonly Contender[];
  readonly peerShot?: Shot;
}

const PARTNER = { authorization: 'Bearer local-partner' };
const BROTLI = { 'accept-encoding': 'br' };
const REST_PEERS = ['bare', 'same', 'hono', 'fastify', 'deployed'] as const;
const GRAPHQL_PEERS = ['yoga', 'mercurius'] as const;

/** Every field of the list in REST: the persisted operation behind `/v1/strategies`. */
const FULL_LIST = manifest.Strategies;
/** A filtered and ordered page. */
export const PAGE = `query Page($filter: StrategyFilter, $order: StrategyOrder) {
  strategies(filter: $filter, orderBy: $order, first: 20) {
    totalCount
    pageInfo { hasNextPage endCursor }
    nodes {
      __typename id chainId borrowApyPct netBorrowApyPct liquidityUsd
      collateral { symbol category maturesAt } loan { symbol }
      maxLeverage defaultLeverage { leverage leverageApyPct }
    }
  }
}`;

const json = (value: unknown) => {
  const text = JSON.stringify(value);
  return () => text;
};

/** A counter, so that every body is new. */
function anew(query: string, variables: (n: number) => Record<string, unknown>): () => string {
  let n = 0;
  return () => {
    n += 1;
    return JSON.stringify({ query, variables: variables(n) });
  };
}

/** A limit below zero that differs each time and excludes no strategy. */
const noLimit = (n: number) => `-${n}.${Math.floor(Math.random() * 1e6)}`;

export function rowsOf({ strategyId, etag }: { readonly strategyId: string; readonly etag: string }): readonly Row[] {
  const rest = (name: string, title: string, path: string): Row => ({
    name,
    title,
    shot: { path },
    against: REST_PEERS,
  });
  const graphql = (name: string, title: string, body: () => string, peerBody = body): Row => ({
    name,
    title,
    shot: { path: '/graphql', method: 'POST', body },
    peerShot: { path: '/graphql', method: 'POST', body: peerBody },
    against: GRAPHQL_PEERS,
  });
  const document = json({ query: FULL_LIST.document, variables: { chainId: 1 } });
  const page = anew(PAGE, (n) => ({
    filter: { minApyPct: `-9999${noLimit(n).slice(1)}`, listedOnly: true },
    order: { field: 'LIQUIDITY_USD', direction: 'DESC' },
  }));
  return [
    rest('strategies', 'GET /v1/strategies', '/v1/strategies'),
    {
      name: 'strategies-br',
      title: 'GET /v1/strategies, brotli',
      shot: { path: '/v1/strategies', headers: BROTLI },
      against: ['bare', 'same', 'deployed'],
    },
    {
      name: 'strategies-304',
      title: 'GET /v1/strategies, 304',
      shot: { path: '/v1/strategies', headers: { 'if-none-match': etag }, status: 304 },
      against: ['bare', 'same', 'deployed'],
    },
    rest('strategy', 'GET /v1/strategies/{id}', `/v1/strategies/${strategyId}`),
    rest('markets', 'GET /v1/app/markets', '/v1/app/markets'),
    graphql('list', 'POST /graphql, full list by document', document),
    graphql(
      'list-persisted',
      'POST /graphql, full list by persisted id',
      json({ documentId: `sha256:${FULL_LIST.sha256}`, variables: { chainId: 1 } }),
      document,
    ),
    {
      ...graphql('list-first', 'POST /graphql, full list, executed (first time in a version)', document),
      // Requests with a key are never answered from the cache: every request executes.
      shot: { path: '/graphql', method: 'POST', body: document, headers: PARTNER },
    },
    {
      ...graphql('page', 'POST /graphql, filtered and ordered page of 20, never seen', page),
      against: ['bare', 'same', ...GRAPHQL_PEERS],
    },
  ];
}

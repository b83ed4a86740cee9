import type { Catalog } from '../../src/catalog/index.ts';
import type { Call } from './load.ts';

/** Numbers that look random and are the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const LIST = '{ strategies(first: 20) { nodes { id borrowApyPct liquidityUsd apyPct } } }';

/** In its first seconds a process may lack the facts of a strategy. */
const ONE_STRATEGY = ['200', '503 not_ready'];

/** Usual requests of integrators: lists, single strategies, prices, histories, over REST and GraphQL. */
export function dailyCalls(catalog: Catalog, partnerKey: string, random: () => number): () => Call {
  const markets = catalog.chains.flatMap((chain) => chain.markets.filter(({ kind }) => kind === 'loop'));
  const market = () => markets[Math.floor(random() * markets.length)];
  const makers: readonly (() => Call)[] = [
    () => ({ name: 'strategies', method: 'GET', path: '/v1/strategies' }),
    () => ({ name: 'strategies', method: 'GET', path: '/v1/strategies?chainId=1' }),
    () => ({ name: 'strategy', method: 'GET', path: `/v1/strategies/${market()?.id}`, expects: ONE_STRATEGY }),
    () => ({ name: 'prices', method: 'GET', path: '/v1/prices?chainId=1' }),
    () => ({ name: 'app markets', method: 'GET', path: '/v1/app/markets' }),
    () => ({ name: 'histories', method: 'GET', path: `/v1/markets/${market()?.id}/borrow-apy-history` }),
    () => ({ name: 'graphql', method: 'POST', path: '/graphql', body: JSON.stringify({ query: LIST }) }),
    () => ({
      name: 'graphql with key',
      method: 'POST',
      path: '/graphql',
      headers: { authorization: `Bearer ${partnerKey}` },
      body: JSON.stringify({ query: LIST }),
      expects: ['200', '429 rate_limited'],
    }),
  ];
  return () => (makers[Math.floor(random() * makers.length)] as () => Call)();
}

/** Number of other documents before one is repeated, so that some are compiled. */
const RETURNING = 40;

/** Coins with charts on a page, few enough for the provider's free budget. */
const POPULAR_COINS = 3;

/**
 * The same, and all inputs that could make a process grow: ids, addresses, keys, clients, correlation ids, documents,
 * variables and spellings that are new, of existing and unknown objects.
 */
export function randomCalls(catalog: Catalog, partnerKey: string, random: () => number): () => Call {
  const daily = dailyCalls(catalog, partnerKey, random);
  const hex = (digits: number) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  const word = () => hex(12);
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  /** The same id in other upper and lower case. */
  const respelled = (id: string) =>
    `0x${[...id.slice(2)].map((digit) => (random() < 0.5 ? digit.toUpperCase() : digit.toLowerCase())).join('')}`;
  const markets = catalog.chains.flatMap((chain) => chain.markets.filter(({ kind }) => kind === 'loop'));
  const coins = catalog.chains.flatMap(({ tokens }) => tokens.flatMap(({ coingeckoId }) => coingeckoId ?? []));
  const popular = coins.slice(0, POPULAR_COINS);
  const partner = { authorization: `Bearer ${partnerKey}` };
  const post = (query: string, variables?: unknown) => JSON.stringify({ query, variables });
  const documents: string[] = [];
  const returning = () => {
    if (documents.length < RETURNING || random() < 1 / 3) {
      documents.push(`query R${word()} { strategies(first: 3) { nodes { id a${word()}: borrowApyPct } } }`);
    }
    if (documents.length > RETURNING) documents.shift();
    return pick(documents);
  };
  // Charts and candles of unknown tokens may use a part of the provider's small budget.
  const busy = '503 upstream_unavailable';
  const makers: readonly (() => Call)[] = [
    () => ({
      name: 'unknown strategy',
      method: 'GET',
      path: `/v1/strategies/0x${hex(64)}`,
      expects: ['404 not_found'],
    }),
    () => ({
      name: 'respelled strategy',
      method: 'GET',
      path: `/v1/strategies/${respelled(pick(markets).id)}`,
      expects: ONE_STRATEGY,
    }),
    () => ({ name: 'unknown path', method: 'GET', path: `/v1/${word()}/${word()}`, expects: ['404 not_found'] }),
    () => ({ name: 'unknown query', method: 'GET', path: `/v1/strategies?${word()}=${word()}` }),
    () => ({
      name: 'unknown history',
      method: 'GET',
      path: `/v1/markets/0x${hex(64)}/incentive-history`,
      expects: ['404 not_found'],
    }),
    () => ({
      name: 'unknown token candles',
      method: 'GET',
      path: `/v1/prices/ohlcv?chainId=1&token=0x${hex(40)}`,
      expects: ['404 not_found', busy],
    }),
    () => ({
      name: 'unknown coin chart',
      method: 'GET',
      path: `/v1/prices/chart?coinId=${word()}`,
      expects: ['400 bad_request', busy],
    }),
    () => ({
      name: 'known coin chart',
      method: 'GET',
      path: `/v1/prices/chart?coinId=${pick(popular)}&days=${pick([7, 30])}`,
    }),
    () => ({
      name: 'positions',
      method: 'GET',
      path: `/v1/partner/positions/0x${hex(40)}`,
      headers: partner,
      expects: ['200', '429 rate_limited'],
    }),
    () => ({
      name: 'unknown key',
      method: 'GET',
      path: `/v1/partner/positions/0x${hex(40)}`,
      headers: { authorization: `Bearer sg_partner_${word()}_${hex(32)}` },
      expects: ['401 unauthorized'],
    }),
    () => ({
      name: 'new document',
      method: 'POST',
      path: '/graphql',
      body: post(`query Q${word()} { a${word()}: chains { chainId name } }`),
    }),
    () => ({ name: 'returning document', method: 'POST', path: '/graphql', body: post(returning()) }),
    () => ({
      name: 'new variables',
      method: 'POST',
      path: '/graphql',
      body: post(
        'query ($least: Decimal) { strategies(first: 20, filter: { minLiquidityUsd: $least }) { totalCount nodes { id borrowApyPct liquidityUsd } } }',
        { least: String(random() * 1_000_000) },
      ),
    }),
    () => ({
      name: 'bad document',
      method: 'POST',
      path: '/graphql',
      headers: { accept: 'application/graphql-response+json' },
      body: post(`{ ${word()} }`),
      expects: ['400 bad_request'],
    }),
    () => ({
      name: 'bad body',
      method: 'POST',
      path: '/graphql',
      body: `{"query": ${word()}`,
      expects: ['400 bad_request'],
    }),
  ];
  return () => {
    const call = random() < 0.3 ? daily() : pick(makers)();
    const client = `10.${Math.floor(random() * 256)}.${Math.floor(random() * 256)}.${Math.floor(random() * 256)}`;
    return { ...call, headers: { ...call.headers, 'x-forwarded-for': client, 'x-correlation-id': `soak-${word()}` } };
  };
}

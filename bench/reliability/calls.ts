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

const LIST = '{ strategies(first: 20) { nodes { id borrowApyPct liquidityUsd defaultLeverage { leverageApyPct } } } }';

/** What integrators ask all day: lists, single strategies, prices, histories, over REST and GraphQL. */
export function dailyCalls(catalog: Catalog, partnerKey: string, random: () => number): () => Call {
  const markets = catalog.chains.flatMap((chain) => chain.markets.filter(({ kind }) => kind === 'loop'));
  const market = () => markets[Math.floor(random() * markets.length)];
  const makers: readonly (() => Call)[] = [
    () => ({ name: 'strategies', method: 'GET', path: '/v1/strategies' }),
    () => ({ name: 'strategies', method: 'GET', path: '/v1/strategies?chainId=1' }),
    () => ({ name: 'strategy', method: 'GET', path: `/v1/strategies/${market()?.id}` }),
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
    }),
  ];
  return () => (makers[Math.floor(random() * makers.length)] as () => Call)();
}

/**
 * The same, and everything that could make a process grow: ids, addresses, keys, clients, correlation ids, documents and
 * variables that were never seen before.
 */
export function randomCalls(catalog: Catalog, partnerKey: string, random: () => number): () => Call {
  const daily = dailyCalls(catalog, partnerKey, random);
  const hex = (digits: number) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  const word = () => hex(12);
  const partner = { authorization: `Bearer ${partnerKey}` };
  const post = (query: string, variables?: unknown) => JSON.stringify({ query, variables });
  const makers: readonly (() => Call)[] = [
    () => ({ name: 'unknown strategy', method: 'GET', path: `/v1/strategies/0x${hex(64)}` }),
    () => ({ name: 'unknown path', method: 'GET', path: `/v1/${word()}/${word()}` }),
    () => ({ name: 'unknown query', method: 'GET', path: `/v1/strategies?${word()}=${word()}` }),
    () => ({ name: 'history', method: 'GET', path: `/v1/markets/0x${hex(64)}/incentive-history` }),
    () => ({ name: 'ohlcv', method: 'GET', path: `/v1/prices/ohlcv?chainId=1&token=0x${hex(40)}` }),
    () => ({ name: 'chart', method: 'GET', path: `/v1/prices/chart?coinId=${word()}` }),
    () => ({ name: 'positions', method: 'GET', path: `/v1/partner/positions/0x${hex(40)}`, headers: partner }),
    () => ({
      name: 'unknown key',
      method: 'GET',
      path: `/v1/partner/positions/0x${hex(40)}`,
      headers: { authorization: `Bearer sg_partner_${word()}_${hex(32)}` },
    }),
    () => ({
      name: 'new document',
      method: 'POST',
      path: '/graphql',
      body: post(`query Q${word()} { a${word()}: chains { chainId name } }`),
    }),
    () => ({
      name: 'new variables',
      method: 'POST',
      path: '/graphql',
      body: post('query ($loan: String) { strategies(first: 5, filter: { loan: $loan }) { totalCount } }', {
        loan: word(),
      }),
    }),
    () => ({ name: 'bad document', method: 'POST', path: '/graphql', body: post(`{ ${word()} }`) }),
    () => ({ name: 'bad body', method: 'POST', path: '/graphql', body: `{"query": ${word()}` }),
  ];
  return () => {
    const call = random() < 0.3 ? daily() : (makers[Math.floor(random() * makers.length)] as () => Call)();
    const client = `10.${Math.floor(random() * 256)}.${Math.floor(random() * 256)}.${Math.floor(random() * 256)}`;
    return { ...call, headers: { ...call.headers, 'x-forwarded-for': client, 'x-correlation-id': `soak-${word()}` } };
  };
}

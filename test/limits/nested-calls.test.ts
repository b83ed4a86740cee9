import { AsyncLocalStorage } from 'node:async_hooks';
import { defaultFieldResolver, graphql, isObjectType } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import { configOf } from '../../src/graphql/plugins/use-field-limits.ts';
import { createLimits } from '../../src/limits/tier-limits.ts';
import { createContext } from '../../src/resolvers/common/context.ts';
import type { ChangeFeed } from '../../src/resolvers/strategy/changes.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { encodeGlobalId } from '../../src/shared/ids.ts';
import { NOW_MS } from '../domain/world.ts';
import { everyField } from '../http/fields.ts';
import { type Front, type FrontOptions, OPS_KEY, PARTNER_KEY, startTestGateway } from '../http/test-gateway.ts';
import { completeContext } from '../resolvers/world.ts';
import type { Json } from '../support/service.ts';
import { subscribe } from '../support/sse.ts';

/** Fields below the root that ask an upstream, and ids of objects behind a key: their prices, and their calls per minute. */

const BUDGET = { RATE_LIMIT_ANONYMOUS: '1000000', RATE_LIMIT_PARTNER: '1000000', RATE_LIMIT_OPS: '1000000' };
const MAX = { anonymous: 30, partner: 120, ops: 240 };
const WETH = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
const CHART = 'priceChart{source}';
const token = (selection: string, address = WETH) => `token(chainId:1,address:"${address}"){${selection}}`;
const many = (count: number, one: (i: number) => string) => Array.from({ length: count }, (_, i) => one(i)).join(' ');

let front: Front | undefined;
const start = async (options: FrontOptions = {}) => {
  front = await startTestGateway({ ...options, env: { ...BUDGET, ...options.env } });
  return front;
};
afterEach(async () => {
  await front?.stop();
  front = undefined;
});
const failures = ({ errors = [] }: Json): Json[] => errors.map(({ path, extensions }: Json) => ({ path, extensions }));

describe('price of a field that asks an upstream', () => {
  const costOf = async (query: string, variables = {}): Promise<number> => {
    const { body } = await (front ?? (await start())).graphql(query, { variables, headers: OPS_KEY });
    expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
    return body.extensions.cost.cost;
  };
  const price = async (query: string, free: string, variables = {}) =>
    (await costOf(query, variables)) - (await costOf(free, variables));

  test('default: five points below the root, as at the root', async () => {
    expect(await price(`{${token(CHART)}}`, `{${token('symbol')}}`)).toBe(500);
    expect(await price(`{${token('candles(limit:1){source}')}}`, `{${token('symbol')}}`)).toBe(500);
    const { body } = await (front as Front).graphql('{priceChart(coinId:"ethereum"){source}}', { headers: OPS_KEY });
    expect(body.extensions.cost.cost).toBe(502);
  });

  const ONE = 500;
  const id = encodeGlobalId('Token', `1:${WETH}`);
  test.each([
    ['aliases', `{${token(many(3, (i) => `a${i}:${CHART}`))}}`, `{${token('symbol')}}`, 3],
    ['aliases of what is around', `{${many(3, (i) => `a${i}:${token(CHART)}`)}}`, `{${token('symbol')}}`, 3],
    [
      'a fragment that is spread twice',
      `{a:${token('...F')} b:${token('...F')}} fragment F on Token{${CHART}}`,
      '{__typename}',
      2,
    ],
    ['a fragment around the root field', `{...F} fragment F on Query{${token(CHART)}}`, '{__typename}', 1],
    ['every object of a page', `{tokens(first:7){nodes{${CHART}}}}`, '{tokens(first:7){nodes{symbol}}}', 7],
    ['every object of a page of markets', `{markets(first:5){nodes{collateral{${CHART}}}}}`, '{__typename}', 5],
    ['every id of nodes', `{nodes(ids:["${id}","${id}","${id}"]){...on Token{${CHART}}}}`, '{__typename}', 3],
    ['an inline fragment of node', `{node(id:"${id}"){...on Token{${CHART}}}}`, '{__typename}', 1],
    ['a token behind candles', `{${token(`candles(limit:1){token{${CHART}}}`)}}`, '{__typename}', 2],
  ])('behavior: is paid for %s', async (_name, query, free, count) => {
    await start();
    const paid = await price(query, free);
    expect([Math.floor(paid / ONE), paid % ONE < 100]).toEqual([count, true]);
  });

  test('behavior: a page size and a condition from variables decide as written ones do', async () => {
    await start();
    const query =
      'query($n:Int!,$with:Boolean!){tokens(first:$n){nodes{symbol priceChart @include(if:$with){source}}}}';
    const [few, more] = [await costOf(query, { n: 2, with: true }), await costOf(query, { n: 9, with: true })];
    expect(Math.round((more - few) / ONE)).toBe(7);
  });

  test('error: query_too_complex for a page of them, before any upstream is asked', async () => {
    let requested = 0;
    const { charts } = completeContext().live();
    const counted = {
      chart: (...args: Parameters<typeof charts.chart>) => {
        requested += 1;
        return charts.chart(...args);
      },
    };
    const { graphql } = await start({ services: { charts: counted } });
    const { body } = await graphql(`{tokens(first:50){nodes{${CHART}}}}`);
    expect(body.errors[0].extensions).toMatchObject({ code: 'query_too_complex', details: { measure: 'cost' } });
    expect(requested).toBe(0);
  });

  test('behavior: the price stays when the answer is short, because the upstream was asked', async () => {
    const { graphql } = await start();
    const { body } = await graphql(`{${token(many(4, (i) => `a${i}:${CHART}`))}}`);
    expect(body.extensions.cost.points).toBeGreaterThanOrEqual(20);
  });
});

describe('calls per minute of a field that asks an upstream', () => {
  test('error: rate_limited at the field, with the other fields beside it', async () => {
    const { graphql } = await start();
    for (let i = 0; i < 2; i += 1)
      expect((await graphql(`{${token(many(15, (j) => `a${j}:${CHART}`))}}`)).body.errors).toBeUndefined();
    const { status, body } = await graphql(`{${token(`symbol ${CHART}`)}}`);
    expect([status, body.data.token]).toEqual([200, { symbol: 'WETH', priceChart: null }]);
    expect(failures(body)).toMatchObject([
      {
        path: ['token', 'priceChart'],
        extensions: {
          code: 'rate_limited',
          retryable: true,
          retryAfterSec: 60,
          details: { scope: 'field', policy: 'anonymous', limit: MAX.anonymous, field: 'Token.priceChart' },
        },
      },
    ]);
    const other = await graphql(`{${token('candles(limit:1){source}')}}`);
    expect(other.body.errors).toBeUndefined();
  });

  test('behavior: shares its counter with the root field and the row of the same upstream', async () => {
    const { graphql, send } = await start();
    for (let i = 0; i < 2; i += 1) await graphql(`{${token(many(10, (j) => `a${j}:${CHART}`))}}`);
    const root = await graphql(`{${many(9, (i) => `a${i}:priceChart(coinId:"ethereum"){source}`)}}`);
    expect(root.body.errors).toBeUndefined();
    expect((await send('/v1/prices/chart?coinId=ethereum')).status).toBe(200);
    expect((await send('/v1/prices/chart?coinId=ethereum')).status).toBe(429);
    expect((await graphql('{priceChart(coinId:"ethereum"){source}}')).status).toBe(429);
    expect((await graphql(`{${token(CHART)}}`)).body.data.token.priceChart).toBeNull();
    expect((await graphql(`{${token(CHART)}}`, { headers: PARTNER_KEY })).body.errors).toBeUndefined();
  });

  const ids = JSON.stringify(Array.from({ length: 18 }, () => encodeGlobalId('Token', `1:${WETH}`)));
  test.each([
    ['every object of a page', `{tokens(first:18,chainIds:[1]){nodes{address candles(limit:1){source}}}}`, 'candles'],
    ['every id of nodes', `{nodes(ids:${ids}){...on Token{${CHART}}}}`, 'priceChart'],
    [
      'a fragment at every place',
      `{${many(18, (i) => `a${i}:${token('...F')}`)}} fragment F on Token{${CHART}}`,
      'priceChart',
    ],
  ])('behavior: counts %s', async (_name, query, field) => {
    const { graphql } = await start();
    const first = await graphql(query);
    expect(first.body.errors ?? [], JSON.stringify(first.body.errors)).toHaveLength(
      first.body.data.tokens ? countOfPoolless(first.body) : 0,
    );
    const second = await graphql(query);
    const refused = failures(second.body).filter(({ extensions }) => extensions.code === 'rate_limited');
    expect([refused.length, new Set(refused.map(({ path }) => path.at(-1)))]).toEqual([6, new Set([field])]);
  });

  test('behavior: a field that is left out is not counted', async () => {
    const { graphql } = await start();
    const query = `query($with:Boolean!){${token(many(18, (i) => `a${i}:${CHART.replace('{', ' @include(if:$with){')}`))}}`;
    for (let i = 0; i < 3; i += 1) expect((await graphql(query, { variables: { with: false } })).status).toBe(200);
    expect((await graphql(query, { variables: { with: true } })).body.errors).toBeUndefined();
  });

  test('behavior: counts the events of subscriptions', async () => {
    const feed = (): ChangeFeed => {
      let sent = false;
      return {
        next: async () => {
          if (sent) return { done: true, value: undefined };
          sent = true;
          return { done: false, value: { nowMs: NOW_MS, chainIds: [1] } };
        },
        return: () => {},
      };
    };
    const { url } = await start({
      services: {
        changes: {
          open: feed,
          freshnessAt: (_facts, _second, compute) => compute(),
          remember: () => {},
          recall: () => null,
        },
      },
    });
    const event = async () => {
      const stream = await subscribe(
        url,
        `subscription{freshnessChanged(chainIds:[1]){chain{stable{symbol ${CHART}}}}}`,
      );
      const first = await stream.next();
      await stream.close();
      return first;
    };
    for (let i = 0; i < MAX.anonymous; i += 1) expect((await event()).errors).toBeUndefined();
    const { data, errors } = await event();
    expect(data.freshnessChanged.chain.stable).toEqual({ symbol: 'USDC', priceChart: null });
    expect(errors[0].extensions).toMatchObject({ code: 'rate_limited', details: { field: 'Token.priceChart' } });
  });

  test('behavior: every field whose resolver asks an upstream or a chain has a limit', async () => {
    const fieldNow = new AsyncLocalStorage<string>();
    const asking = new Set<string>();
    const noting = <T extends object>(port: T): T =>
      new Proxy(port, {
        get(target, name) {
          const call = Reflect.get(target, name);
          if (typeof call !== 'function') return call;
          return (...args: unknown[]) => {
            asking.add(fieldNow.getStore() ?? 'none');
            return call.apply(target, args);
          };
        },
      });
    const complete = completeContext();
    const live = complete.live();
    const { charts, ohlcv, positions, leverage, equity, ops } = live;
    const services = {
      ...live,
      charts: noting(charts),
      ohlcv: noting(ohlcv),
      positions: noting(positions),
      leverage: noting(leverage),
      equity: noting(equity),
      // Reports are made once a minute for all callers, and their totals come from the database.
      ops: { ...ops, live: noting(ops).live },
    };
    const schema = buildSchema();
    for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
      for (const field of Object.values(type.getFields())) {
        const { resolve = defaultFieldResolver } = field;
        field.resolve = (...args) => fieldNow.run(`${type.name}.${field.name}`, () => resolve(...args));
      }
    }
    const caller = { kind: 'key', keyId: 'ops', tier: 'ops' } as const;
    for (const { query: source } of everyField(schema)) {
      await graphql({ schema, source, contextValue: createContext(services, { ...complete, caller }) });
    }
    // Asked in one call for all wallets of the request, which are limited themselves.
    asking.delete('WalletOnChain.proxyOf');
    for (const type of ['Wallet', 'WalletOnChain']) asking.delete(`${type}.totals`);
    const limits = createLimits({ anonymous: 1, partner: 1, ops: 1 }).ops;
    const roots = configOf(schema, limits).map(({ type, field }) => `${type}.${field}`);
    expect([...asking].filter((coordinate) => !roots.includes(coordinate) && !(coordinate in limits.calls))).toEqual(
      [],
    );
    expect([...asking]).toEqual(
      expect.arrayContaining([
        'Query.priceChart',
        'Query.candles',
        'Token.priceChart',
        'Token.candles',
        'Query.wallet',
        'Ops.portfolio',
      ]),
    );
  });
});

/** Tokens of a page without any pool, which have an error of their own. */
function countOfPoolless({ errors = [] }: Json): number {
  return errors.filter(({ extensions }: Json) => extensions.code === 'not_found').length;
}
